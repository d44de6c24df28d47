import pickle
from copy import deepcopy
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from smoothpl.backbones import Encoder, of_onnx
from smoothpl.backbones.convert import traced
from smoothpl.data.frames import CentralCrop
from smoothpl.errors import ConfigError
from smoothpl.inference.classifier import Classifier
from smoothpl.inference.joined import CHUNK, Joined, Middle
from smoothpl.nets.heads import LinearHead
from smoothpl.nets.several import SeveralHeads
from tests.support.backbones import Corners, tiny_encoder
from tests.support.small_nets import encoder as small_encoder


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def head_for(dim: int, num_classes: int = 3) -> LinearHead:
    head = LinearHead(dim, num_classes)
    nn.init.normal_(head.classify.weight)
    head.standardise_by(torch.randn(dim), torch.rand(dim) + 0.5)
    return head


def bytes_of(number: int, side: int, channels: int = 3) -> Tensor:
    coarse = torch.randint(256, (number, channels, 4, 4)).float()
    return nn.functional.interpolate(coarse, (side, side), mode="bilinear").byte()


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("crop", [1.0, 0.7])
@pytest.mark.parametrize(("side", "size"), [(8, 8), (8, 12), (20, 8), (21, 9)])
def test_pixels_are_brought_to_a_backbone_as_in_training_but_for_rounding(
    side: int, size: int, crop: float, channels: int
) -> None:
    encoder = Encoder(Corners(), "corners", "corners", size, crop, (0.5, 0.4, 0.3), (0.25, 0.2, 0.5))
    images = bytes_of(4, side, channels)
    found, expected = Middle(encoder, side)(images.float()), encoder.prepare(images)
    assert found.shape == expected.shape
    levels = (found - expected).abs() * 255 * torch.tensor(encoder.std).view(3, 1, 1)
    assert levels.max() <= 2.001
    assert levels.mean() < 0.15
    if side == size and crop == 1:
        assert torch.equal(found, expected)


def test_it_is_evaluated_by_an_engine_on_vectors_of_16_bits() -> None:
    encoder, head, images = tiny_encoder(12), head_for(96), bytes_of(5, 8)
    expected = head(encoder(images).half().float())
    torch.testing.assert_close(Joined({"tiny": encoder}, head, 8, "torch").evaluated(images), expected)
    exact = Joined({"tiny": encoder}, head, 8, "torch", as_stored=False)
    torch.testing.assert_close(exact.evaluated(images), head(encoder(images)))
    assert not torch.equal(exact.evaluated(images), expected)


def test_as_one_graph_it_gives_nearly_the_same() -> None:
    joined, images = Joined({"tiny": tiny_encoder(12)}, head_for(96), 8, "torch"), bytes_of(20, 8)
    difference = joined(images.float()).softmax(dim=1) - joined.evaluated(images).softmax(dim=1)
    assert difference.abs().max() < 0.05


def test_several_backbones_stand_side_by_side_each_with_its_own_size() -> None:
    encoders = {"large": tiny_encoder(12), "net": small_encoder("resnet")}
    heads = SeveralHeads([head_for(96), head_for(encoders["net"].dim)])
    joined, images = Joined(encoders, heads, 8, "torch"), bytes_of(5, 8)
    vectors = torch.cat([each(images) for each in encoders.values()], dim=1).half().float()
    with torch.no_grad():
        torch.testing.assert_close(joined.evaluated(images), heads(vectors), atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(joined(images.float()).argmax(dim=1), heads(vectors).argmax(dim=1))


@pytest.mark.parametrize("engine", ["auto", "torch"])
@pytest.mark.parametrize("size", [1, 3, CHUNK, CHUNK + 1])
def test_the_result_of_an_image_does_not_depend_on_others(size: int, engine: str) -> None:
    encoder = small_encoder("resnet")
    joined = Joined({"net": encoder}, head_for(encoder.dim), 8, engine)
    classifier = Classifier(joined, "abc", CentralCrop(8, 1.0), [0.0] * 3, [1 / 255] * 3)
    images = bytes_of(2 * CHUNK + 5, 8)
    whole = classifier.predict_pixels(images).probabilities
    parts = [classifier.predict_pixels(some).probabilities for some in torch.split(images, size)]
    assert torch.equal(whole, torch.cat(parts))


def test_it_has_weights_of_its_own() -> None:
    """The encoder belongs to all who build it in this process."""
    encoder = small_encoder("resnet")
    Joined({"net": encoder}, head_for(encoder.dim), 8).to(torch.float64)
    assert {each.dtype for each in encoder.parameters()} == {torch.float32}


def test_a_copy_computes_the_same_by_itself() -> None:
    encoder, images = small_encoder("resnet"), bytes_of(5, 8)
    joined = Joined({"net": encoder}, head_for(encoder.dim), 8)
    expected = joined.evaluated(images)
    for other in (deepcopy(joined), pickle.loads(pickle.dumps(joined))):
        nn.init.zeros_(joined.head.classify.weight)  # type: ignore[arg-type, union-attr]
        assert torch.equal(other.evaluated(images), expected)
        assert other.engines[0].encoder is other.parts[0]


def test_its_state_is_that_of_backbones_and_head() -> None:
    encoder = small_encoder("resnet")
    state = Joined({"net": encoder}, head_for(encoder.dim), 8).state_dict()
    of_backbone = {f"encoders.0.network.{name}" for name in encoder.network.state_dict()}
    of_head = {f"head.{name}" for name in head_for(encoder.dim).state_dict()}
    assert state.keys() == of_backbone | of_head


def test_a_file_of_onnx_is_computed_and_cannot_be_exported(tmp_path: Path) -> None:
    encoder = small_encoder("resnet")
    (tmp_path / "net.onnx").write_bytes(traced(encoder))
    file = of_onnx(str(tmp_path / "net.onnx"), mean=encoder.mean, std=encoder.std)
    head, images = head_for(encoder.dim), bytes_of(5, 16)
    joined = Joined({"onnx": file}, head, 16)
    torch.testing.assert_close(joined.evaluated(images), head(encoder(images).half().float()), atol=0.05, rtol=0.01)
    with pytest.raises(
        ConfigError, match=r"backbone onnx is a file of ONNX itself, which cannot be joined .* one file"
    ):
        joined.check_exportable()
    Joined({"net": encoder}, head, 16).check_exportable()
