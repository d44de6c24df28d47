from collections.abc import Callable
from itertools import chain, repeat
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor, nn

from smoothpl.data.frames import CentralCrop
from smoothpl.errors import ConfigError
from smoothpl.inference import export, formats
from smoothpl.inference.classifier import Classifier
from smoothpl.inference.export import export_run
from smoothpl.inference.formats import FORMATS, Format
from smoothpl.inference.portable import Portable
from smoothpl.nets.build import build_network
from smoothpl.run.training import train
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
