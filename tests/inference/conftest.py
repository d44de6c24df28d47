"""Runs on the features of a tiny backbone, for all tests here that need one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from smoothpl.config.overrides import CommandLine
from smoothpl.run.command_line import complete
from smoothpl.run.training import train
from tests.support.backbones import TINY_BACKBONE
from tests.support.composing import TINY, composed
from tests.support.own import two_digits

LEARNS = ("max_steps=30", "eval_every=30", "optim.learning_rate=0.1")


@pytest.fixture(scope="session")
def folder_of_runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """With a cache of its own, which holds while a test uses it."""
    folder = tmp_path_factory.mktemp("on_features")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        yield folder


@pytest.fixture(scope="session")
def on_features(folder_of_runs: Path) -> Path:
    """A run on digits, whose 8 x 8 pixels the backbone sees as 12 x 12."""
    place = folder_of_runs / "digits"
    train(composed(*TINY_BACKBONE, *TINY, *LEARNS, "+backbone.encoders.tiny.size=12"), place)
    return place


@pytest.fixture(scope="session")
def on_folder(folder_of_runs: Path) -> Path:
    """A run on a folder of zeros and ones, which lies beside it: photos."""
    root, place = two_digits(folder_of_runs / "photos"), folder_of_runs / "own"
    words = ["data=folder", f"data.root={root}", "data.flip=0", "verdict=none", *TINY_BACKBONE, *TINY]
    request = complete(CommandLine.parse(words))
    train(request.config(), place, scan=request.scan)
    return place
