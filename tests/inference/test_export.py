from collections.abc import Callable
from itertools import chain, repeat
from pathlib import Path

import pytest

from smoothpl.errors import ConfigError
from smoothpl.inference import formats
from smoothpl.inference.export import export_run
from smoothpl.inference.formats import FORMATS, Format
from smoothpl.run.training import train
from tests.support.composing import TINY, composed
from tests.support.own import save


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


@pytest.fixture
def differs(monkeypatch: pytest.MonkeyPatch) -> Callable[[float, float], None]:
    """Makes the file differ from the run, on the first image and on the others."""

    def make(first: float, others: float) -> None:
        by = chain([first], repeat(others))
        wrong = Format(FORMATS["safetensors"].write, lambda _, model: lambda pixels: model(pixels) + next(by))
        monkeypatch.setitem(formats.FORMATS, "safetensors", wrong)

    return make


@pytest.mark.parametrize(("first", "others", "shown"), [(0.01, 0.01, r"0\.01"), (0.5, 0.0, r"0\.5")])
def test_a_file_that_differs_from_the_run_is_not_written(
    first: float, others: float, shown: str, run_dir: Path, tmp_path: Path, differs: Callable[[float, float], None]
) -> None:
    differs(first, others)
    with pytest.raises(ConfigError, match=rf"was not written: its probabilities differ from the run's by {shown}"):
        export_run(run_dir, str(run_dir.parent / "photos"), "safetensors", tmp_path / "wrong.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_a_pixel_that_is_rounded_to_its_neighbour_is_no_reason_to_refuse(
    run_dir: Path, tmp_path: Path, differs: Callable[[float, float], None]
) -> None:
    differs(0.001, 0.0)
    export_run(run_dir, str(run_dir.parent / "photos"), "safetensors", tmp_path / "model.safetensors")
    assert (tmp_path / "model.safetensors").exists()
