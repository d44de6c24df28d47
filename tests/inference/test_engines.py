import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from torch import Tensor, nn

from smoothpl.backbones.convert import traced
from smoothpl.backbones.onnx_session import AT_A_TIME
from smoothpl.data.decode import decode_safely
from smoothpl.data.frames import CentralCrop
from smoothpl.errors import ConfigError
from smoothpl.inference import engines
from smoothpl.inference.classifier import Classifier, Predictions
from smoothpl.inference.engines import BOUND, FEWEST, Source
from smoothpl.nets import WideResNet, pretrained
from tests.support.images import in_memory
from tests.support.real import needs_cifar10, needs_photographs, photographs, real_cifar10


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("smoothpl.cli.messages.said", set())
    return tmp_path / "cache" / "smoothpl" / "networks"


def classifier_of(network: nn.Module, size: int, channels: int = 3) -> Classifier:
    network = network.to(memory_format=torch.channels_last)
    return Classifier(network, "0123456789", CentralCrop(size, 1.0), [0.5] * channels, [0.25] * channels)


def sure(network: nn.Module) -> nn.Module:
    """Of itself, so that differences of logits are seen in probabilities."""
    output = [part for part in network.modules() if isinstance(part, nn.Linear)][-1]
    nn.init.normal_(output.weight, std=3)
    return network


def small(seed: int = 0) -> Classifier:
    torch.manual_seed(seed)
    return classifier_of(sure(WideResNet(10, channels=1, depth=10, width=1)), 8, channels=1)


def bytes_of(number: int, channels: int = 1, size: int = 8) -> Tensor:
    return torch.randint(256, (number, channels, size, size), dtype=torch.uint8)


def agree(found: Predictions, wanted: Predictions) -> None:
    """As documented: probabilities within BOUND, and the same classes but where two are nearly as likely."""
    assert 0 < float((found.probabilities - wanted.probabilities).abs().max()) <= BOUND  # 0: nothing was compared
    first, second = wanted.probabilities.topk(2).values.T
    others = [one != other for one, other in zip(found.labels, wanted.labels, strict=True)]
    assert bool((first - second <= 2 * BOUND)[torch.tensor(others)].all())


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "WideResNet": lambda: WideResNet(10, depth=16, width=2),
    "ResNet": lambda: pretrained("torchvision", "resnet18", 10, size=32),
    "ViT of torchvision": lambda: pretrained("torchvision", "vit_b_32", 10, size=32),
    "ViT of timm": lambda: pretrained("timm", "vit_tiny_patch16_224", 10, size=32),
    "EfficientNet": lambda: pretrained("timm", "tf_efficientnet_lite0", 10, size=32),
}


@needs_cifar10
@pytest.mark.parametrize("name", NETWORKS)
def test_both_engines_predict_the_same_for_real_images(name: str) -> None:
    torch.manual_seed(0)
    classifier, images = classifier_of(sure(NETWORKS[name]()), 32), in_memory(real_cifar10().test).images[:100]
    wanted = classifier.predict_pixels(images)
    classifier.use("onnxruntime")
    found = classifier.predict_pixels(images)
    assert classifier.engine == "onnxruntime"
    assert wanted.confidence.mean() > 0.3
    agree(found, wanted)


@needs_photographs
def test_photographs_are_classified_alike() -> None:
    torch.manual_seed(0)
    classifier = classifier_of(sure(NETWORKS["ResNet"]()), 96)
    images = [decode_safely(place) for place in photographs()[::100]]
    wanted = classifier.predict(images)
    classifier.use("onnxruntime")
    agree(classifier.predict(images), wanted)


@pytest.mark.parametrize("size", [1, 3, AT_A_TIME, AT_A_TIME + 1])
def test_the_result_of_an_image_does_not_depend_on_others(size: int) -> None:
    classifier, images = small(), bytes_of(2 * AT_A_TIME + 5)
    classifier.use("onnxruntime")
    whole = classifier.predict_pixels(images).probabilities
    parts = [classifier.predict_pixels(some).probabilities for some in torch.split(images, size)]
    assert torch.equal(whole, torch.cat(parts))


def test_a_network_is_converted_once_and_known_by_its_weights(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    converted = Mock(wraps=traced)
    monkeypatch.setattr("smoothpl.backbones.engine.traced", converted)
    for seed in (0, 0, 1):
        small(seed).use("onnxruntime")
    assert converted.call_count == 2
    assert len([*cache.glob("*.onnx")]) == 2
    assert oct(next(cache.glob("*.onnx")).stat().st_mode)[-3:] == "600"


def test_a_network_of_the_same_weights_that_computes_otherwise_is_another_one() -> None:
    one, other = (nn.Sequential(nn.Flatten(), nn.Linear(64, 10), each) for each in (nn.ReLU(), nn.Tanh()))
    other.load_state_dict(one.state_dict())
    dims = (1, 8, 8)
    assert Source(one, dims).digest != Source(other, dims).digest
    assert Source(one, dims).digest != Source(one, (1, 4, 16)).digest


@pytest.mark.parametrize(("num_images", "name"), [(0, "torch"), (FEWEST - 1, "torch"), (FEWEST, "onnxruntime")])
def test_auto_converts_a_network_for_many_images_only(num_images: int, name: str) -> None:
    classifier = small()
    classifier.use("auto", num_images)
    assert classifier.engine == name


def test_auto_is_torch_where_onnxruntime_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    classifier = small()
    classifier.use("auto", FEWEST)
    assert classifier.engine == "torch"
    with pytest.raises(ConfigError, match=r"^engine=onnxruntime is not installed: pip install .*, or engine=torch\.$"):
        classifier.use("onnxruntime")


class Unruly(nn.Module):
    """No file can follow it: what it computes depends on the values of its images."""

    def forward(self, images: Tensor) -> Tensor:
        torch.linalg.eigvals(images[:, 0])
        logits: Tensor = images.flatten(1)[:, :10]
        return logits * torch.special.bessel_j0(images.amax()) if float(images.sum()) > 0 else -logits


def test_a_network_that_cannot_be_converted_is_left_to_torch(capsys: pytest.CaptureFixture[str]) -> None:
    classifier = classifier_of(Unruly(), 8, channels=1)
    classifier.use("auto", FEWEST)
    assert classifier.engine == "torch"
    assert "ONNX Runtime cannot compute this network (" in capsys.readouterr().err
    with pytest.raises(
        ConfigError, match=r"^engine=onnxruntime cannot compute this network \(.*\); use engine=torch, or auto\.$"
    ):
        classifier.use("onnxruntime")


def test_a_file_that_answers_otherwise_for_real_images_is_not_used(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Noise was the same, and images are not."""
    wrong: Any = small(seed=1)
    monkeypatch.setattr(engines, "by_onnxruntime", lambda *_: wrong.network)
    images = bytes_of(20)
    wanted = small().predict_pixels(images).probabilities
    classifier = small()
    classifier.use("auto", FEWEST)
    assert torch.allclose(classifier.predict_pixels(images).probabilities, wanted, atol=1e-6)
    assert classifier.engine == "torch"
    assert "ONNX Runtime is not used: its probabilities differ from torch's by" in capsys.readouterr().err
    classifier.use("onnxruntime")
    for _ in range(2):  # also for those who try again
        with pytest.raises(ConfigError, match=r"differ from torch's by .*, and only 0\.0001 is allowed\); use engine="):
            classifier.predict_pixels(images)


def test_elsewhere_than_on_a_cpu_torch_computes() -> None:
    classifier = small()
    classifier.use("onnxruntime")
    assert classifier.engine == "onnxruntime"
    assert classifier.to("meta").engine == "torch"


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^engine=onnx must be one of auto, onnxruntime, torch\.$"):
        small().use("onnx")
