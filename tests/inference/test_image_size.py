import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smoothpl.errors import ConfigError
from smoothpl.inference.classifier import load
from smoothpl.record.record import read
from smoothpl.run.training import train
from tests.support.composing import TINY, composed
from tests.support.own import picture
from tests.support.processes import Process

SOURCE = """
import torch
from smoothpl.data import ImageSet, Source

def stripes(root=None):
    horizontal = torch.arange(8).view(8, 1).expand(8, 8) % 2
    labels = torch.arange(60) % 2
    noise = torch.randint(40, (60, 8, 8), generator=torch.Generator().manual_seed(0))
    pixels = torch.stack([horizontal, horizontal.T])[labels] * 200 + noise
    images = ImageSet(pixels.byte().unsqueeze(1), labels)
    return Source(images, images, ("horizontal", "vertical"))
"""
CONF = """
num_classes: 2
channels: 1
mean: [0.5]
std: [0.3]
flip: 0.0
padding: 1
num_workers: 0
source:
  _target_: stripes.stripes
  _partial_: true
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a data source of one's own, whose images have 8 x 8 pixels."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "conf" / "data").mkdir(parents=True)
    (folder / "conf" / "data" / "stripes.yaml").write_text(CONF)
    (folder / "stripes.py").write_text(SOURCE)
    knobs = ("data=stripes", "num_labels=8", "hydra.run.dir=run", "pictures=false", *TINY)
    done = Process("smoothpl.train", "--config-dir", "conf", *knobs, cwd=folder).wait()
    assert done.returncode == 0, done.stderr
    return folder / "run"


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("digits") / "run"
    train(composed(*TINY), place)
    return place


def copied(run_dir: Path, place: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """A run whose record was changed."""
    place.mkdir()
    record = json.loads((run_dir / "run.json").read_text())
    change(record)
    (place / "run.json").write_text(json.dumps(record))
    (place / "last.ckpt").symlink_to(run_dir / "last.ckpt")
    return place


def make_older(record: dict[str, Any]) -> None:
    """As schema 5 had it."""
    record["schema"] = 5
    record["calibration"], record["falls"] = record.pop("equilibrium"), record.pop("instability")
    record.pop("image_size")


def make_older_and_repair(record: dict[str, Any]) -> None:
    make_older(record)
    record["image_size"] = [8, 8]


def test_a_source_of_ones_own_has_the_size_of_its_images(own: Path) -> None:
    assert read(own).image_size == [8, 8]
    classifier = load(own)
    assert classifier.prepare.frame.size == 8
    assert classifier.predict(picture(0)).labels[0] in ("horizontal", "vertical")


def test_an_older_record_of_our_own_data_is_loaded_as_before(digits: Path, tmp_path: Path) -> None:
    older = copied(digits, tmp_path / "older", make_older)
    assert not read(older).image_size
    assert load(older).prepare.frame.size == 8


def test_an_older_record_of_somebodys_own_data_is_refused_with_the_way_out(own: Path, tmp_path: Path) -> None:
    older = copied(own, tmp_path / "older", make_older)
    message = r'does not tell the size of the images of stripes\.stripes; add "image_size": \[height, width\] to it'
    with pytest.raises(ConfigError, match=message):
        load(older)
    repaired = copied(own, tmp_path / "repaired", make_older_and_repair)
    assert load(repaired).prepare.frame.size == 8


def test_images_that_are_not_square_are_refused(digits: Path, tmp_path: Path) -> None:
    wide = copied(digits, tmp_path / "wide", lambda record: record.update(image_size=[8, 12]))
    with pytest.raises(ConfigError, match="was trained on images of 8 x 12 pixels; only square ones can be loaded"):
        load(wide)
