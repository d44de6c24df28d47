import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from smoothpl.data.frames import CentralCrop
from smoothpl.errors import ConfigError
from smoothpl.inference.classifier import Classifier
from smoothpl.inference.export import SUFFIXES
from smoothpl.inference.formats import FORMATS, needed
from smoothpl.inference.joined import Joined
from smoothpl.inference.portable import Portable
from smoothpl.nets.heads import CosineHead, LinearHead
from smoothpl.nets.several import SeveralHeads
from tests.support.backbones import tiny_encoder
from tests.support.small_nets import encoder as small_encoder


def metadata_in(name: str, path: Path) -> dict[str, str]:
    if name == "onnx":
        import onnx

        return {each.key: each.value for each in onnx.load(path).metadata_props}
    if name == "safetensors":
        from safetensors import safe_open

        with safe_open(path, "pt") as file:
            return dict(file.metadata())
    extra: dict[str, Any] = {"metadata.json": ""}
    if name == "torchscript":
        torch.jit.load(path, _extra_files=extra)  # type: ignore[no-untyped-call]
    else:
        torch.export.load(path, extra_files=extra)
    found: dict[str, str] = json.loads(extra["metadata.json"])
    return found


def test_every_format_has_a_suffix() -> None:
    assert FORMATS.keys() == SUFFIXES.keys()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::torch.jit.TracerWarning")
@pytest.mark.parametrize("share", [1.0, 0.7])
@pytest.mark.parametrize("name", list(FORMATS))
def test_what_is_written_is_read_for_images_of_any_number_and_size(name: str, share: float, tmp_path: Path) -> None:
    network = nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)
    )
    classifier = Classifier(network, "ab", CentralCrop(6, share), [0.5] * 3, [0.2] * 3)
    model, path = Portable(classifier), tmp_path / f"model{SUFFIXES[name]}"
    with torch.no_grad():
        FORMATS[name].write(model, torch.zeros(2, 3, 20, 30, dtype=torch.uint8), {"class_names": '["a", "b"]'}, path)
        exported = FORMATS[name].read(path, model)
        for dims in ((1, 3, 20, 30), (5, 3, 31, 17), (3, 3, 6, 6)):
            images = torch.randint(256, dims, dtype=torch.uint8)
            torch.testing.assert_close(exported(images), classifier.predict(images).probabilities, atol=2e-3, rtol=0)
    assert metadata_in(name, path)["class_names"] == '["a", "b"]'


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::torch.jit.TracerWarning")
@pytest.mark.parametrize("name", list(FORMATS))
def test_several_backbones_with_their_heads_are_one_file(name: str, tmp_path: Path) -> None:
    """Of different sizes, both other than that of the images; by a network that learned nothing, but is sure."""
    encoders = {"tiny": tiny_encoder(12), "net": small_encoder("transformer")}
    linear = LinearHead(96, 3)
    nn.init.normal_(linear.classify.weight)
    joined = Joined(encoders, SeveralHeads([linear, CosineHead(encoders["net"].dim, 3)]), 20, "torch")
    classifier = Classifier(joined, "abc", CentralCrop(20, 0.9), [0.0] * 3, [1 / 255] * 3)
    model, path = Portable(classifier), tmp_path / f"model{SUFFIXES[name]}"
    with torch.no_grad():
        FORMATS[name].write(model, torch.zeros(2, 3, 20, 30, dtype=torch.uint8), {"class_names": "[]"}, path)
        exported = FORMATS[name].read(path, model)
        for dims in ((1, 3, 20, 30), (5, 3, 31, 47)):
            images = torch.nn.functional.interpolate(255 * torch.rand(dims[0], 3, 4, 4), dims[2:]).byte()
            found = exported(images)
            torch.testing.assert_close(found, model(images), atol=1e-4, rtol=0)
            torch.testing.assert_close(found, classifier.predict(images).probabilities, atol=0.02, rtol=0)


def test_a_package_that_is_missing_is_named() -> None:
    with pytest.raises(ConfigError, match=r"this format needs nothing_of_this_name: pip install 'smoothpl\[export\]'"):
        needed("nothing_of_this_name.at_all")
