from pathlib import Path
from typing import Any

import pytest
import torch
from hydra.utils import instantiate
from torch import Tensor, nn
from torchvision import models

from smoothpl.errors import ConfigError
from smoothpl.nets import pretrained
from tests.support.composing import composed, options

SMALL = "shufflenet_v2_x0_5"


@pytest.fixture(scope="module")
def published() -> dict[str, Tensor]:
    """As if it had been trained on 1,000 classes."""
    torch.manual_seed(1)
    return {key: value.clone() for key, value in models.get_model(SMALL).state_dict().items()}


def same(network: nn.Module, weights: dict[str, Tensor]) -> list[str]:
    own = network.state_dict()
    return [key for key in weights if own[key].shape == weights[key].shape and torch.equal(own[key], weights[key])]


@pytest.mark.parametrize("name", options("net/torchvision"))
def test_every_yaml_of_torchvision_is_a_network(name: str) -> None:
    network = instantiate(composed("data=imagenet", "data.num_classes=7", f"net=torchvision/{name}").net).eval()
    assert network(torch.zeros(1, 3, 64, 64)).shape == (1, 7)


def test_any_model_has_a_word_of_its_own() -> None:
    config = composed(
        "data=imagenet", "data.num_classes=7", "net=torchvision", f"net.name={SMALL}", "norm_momentum=0.02"
    )
    network = instantiate(config.net).eval()
    assert network(torch.zeros(1, 3, 32, 32)).shape == (1, 7)
    assert {part.momentum for part in network.modules() if isinstance(part, nn.BatchNorm2d)} == {0.02}
    assert {"torchvision", "timm"} <= {*options("net")}


@pytest.mark.parametrize(
    ("wrap", "knob"),
    [
        (lambda weights: weights, "weights"),
        (lambda weights: {"state_dict": weights, "epoch": 3}, "init_from"),
        (lambda weights: {"state_dict": {f"module.encoder_q.{key}": weights[key] for key in weights}}, "init_from"),
        (lambda weights: {"teacher": {f"backbone.{key}": weights[key] for key in weights}}, "init_from"),
        (
            lambda weights: {"model": {f"encoder.{key}": weights[key] for key in weights} | {"head.w": torch.zeros(1)}},
            "init_from",
        ),
    ],
)
def test_weights_of_a_file_are_taken_but_the_classifier_s(
    wrap: Any, knob: str, published: dict[str, Tensor], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.save(wrap(published), tmp_path / "weights.pth")
    taken: dict[str, Any] = {knob: str(tmp_path / "weights.pth")}
    network = pretrained("torchvision", SMALL, num_classes=7, **taken)
    assert {*published} - {*same(network, published)} == {"fc.weight", "fc.bias"}
    assert "2 tensors start at random: fc.weight, fc.bias" in capsys.readouterr().err


def test_safetensors_are_read_too(published: dict[str, Tensor], tmp_path: Path) -> None:
    from safetensors.torch import save_file

    save_file(published, tmp_path / "weights.safetensors")
    network = pretrained("torchvision", SMALL, num_classes=1000, weights=str(tmp_path / "weights.safetensors"))
    assert same(network, published) == list(published)


def test_published_weights_are_fetched_only_when_asked_for(
    published: dict[str, Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def fetch(self: Any, **_: Any) -> dict[str, Tensor]:
        asked.append(self.name)
        return published

    monkeypatch.setattr(models.WeightsEnum, "get_state_dict", fetch)
    pretrained("torchvision", SMALL, num_classes=7)
    assert asked == []
    network = pretrained("torchvision", SMALL, num_classes=7, weights="IMAGENET1K_V1")
    assert asked == ["IMAGENET1K_V1"]
    assert len(same(network, published)) == len(published) - 2


def test_weights_that_cannot_be_fetched_are_named_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError("no route to host\nand more")

    monkeypatch.setattr(models.WeightsEnum, "get_state_dict", fail)
    message = r"net\.weights=IMAGENET1K_V1 could not be fetched \(no route to host\); .* net\.weights=<file>"
    with pytest.raises(ConfigError, match=message):
        pretrained("torchvision", SMALL, num_classes=7, size=32, weights="IMAGENET1K_V1")
    with pytest.raises(
        ConfigError, match=r"net\.weights=pretrained could not be fetched \(No pretrained weights exist"
    ):
        pretrained("timm", "resnet50_mlp", num_classes=7, size=32, weights="pretrained")


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    torch.save(nn.Linear(3, 3).state_dict(), tmp_path / "other.pth")
    torch.save([1, 2], tmp_path / "list.pth")
    for knobs, message in (
        ({"init_from": str(tmp_path / "other.pth")}, "it is for another one. It has weight, bias"),
        ({"init_from": str(tmp_path / "list.pth")}, "holds no weights: no tensors with names"),
        ({"weights": str(tmp_path / "gone.pth")}, "is not there; name a file of weights"),
        ({"weights": "IMAGENET"}, "net.weights=IMAGENET must be a file, or one of IMAGENET1K_V1, DEFAULT"),
        ({"weights": "DEFAULT", "init_from": "x.pth"}, "a network starts from one of them"),
        ({"channels": 1}, "data.channels=1 must be 3"),
        ({"name": "googlenet"}, "is not a classification model of torchvision; known are alexnet"),
    ):
        words: dict[str, Any] = {"name": SMALL, "num_classes": 7} | knobs
        with pytest.raises(ConfigError, match=message):
            pretrained("torchvision", **words)


def test_networks_for_one_size_are_made_for_that_of_the_images(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    network = instantiate(composed("data=imagenet", "data.size=32", "net=torchvision", "net.name=vit_b_32").net).eval()
    assert network(torch.zeros(1, 3, 32, 32)).shape == (1, 1000)
    larger = pretrained("torchvision", "vit_b_32", num_classes=7, size=64)
    torch.save(larger.state_dict(), tmp_path / "larger.pth")
    smaller = pretrained("torchvision", "vit_b_32", num_classes=7, size=32, weights=str(tmp_path / "larger.pth"))
    assert smaller.get_parameter("encoder.pos_embedding").shape == (1, 2, 768)
    assert capsys.readouterr().err == ""  # nothing begins at random
    network = pretrained("timm", "vit_tiny_patch16_224", num_classes=7, size=32).eval()
    assert network(torch.zeros(1, 3, 32, 32)).shape == (1, 7)


@pytest.mark.parametrize(("library", "name"), [("torchvision", "vit_b_32"), ("torchvision", "maxvit_t")])
def test_a_size_that_a_network_cannot_take_is_an_error_at_once(library: Any, name: str) -> None:
    message = rf"net\.name={name} does not take images of 40 x 40 pixels \(.+\); use another data\.size"
    with pytest.raises(ConfigError, match=message):
        pretrained(library, name, num_classes=7, size=40)


def test_a_network_that_needs_larger_images_says_so_before_training() -> None:
    with pytest.raises(ConfigError, match=r"net\.name=alexnet does not take images of 16 x 16 pixels"):
        pretrained("torchvision", "alexnet", num_classes=7, size=16)


def test_timm_has_many_more(tmp_path: Path) -> None:
    network = pretrained("timm", "resnet10t", num_classes=7, norm_momentum=0.02).eval()
    assert network(torch.zeros(1, 3, 32, 32)).shape == (1, 7)
    torch.save(network.state_dict(), tmp_path / "weights.pth")
    again = pretrained("timm", "resnet10t", num_classes=7, weights=str(tmp_path / "weights.pth"))
    assert len(same(again, network.state_dict())) == len(network.state_dict())
    with pytest.raises(
        ConfigError, match=r"net\.name=resnet10x is not a model of timm; similar names are resnet10t, resnet"
    ):
        pretrained("timm", "resnet10x", num_classes=7)
    with pytest.raises(ConfigError, match="must be pretrained, a file, or null"):
        pretrained("timm", "resnet10t", num_classes=7, weights="best")
