import errno
import multiprocessing
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
import torch

from smoothpl.backbones.engine import Engine
from smoothpl.data import FlipCrop, ImageSet
from smoothpl.data.features import bank as bank_file
from smoothpl.data.features.bank import Bank
from smoothpl.data.features.contents import contents_of
from smoothpl.data.features.looks import Look, pixels_of
from smoothpl.data.randomness import Stream
from smoothpl.errors import ConfigError
from tests.support.backbones import tiny_encoder, tiny_engine

IMAGES = ImageSet(
    torch.randint(256, (300, 3, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)),
    torch.zeros(300, dtype=torch.long),
)
CONTENTS = contents_of(IMAGES, None)
LOOKS = [
    Look("plain", 0, None, None, None),
    Look("weak", 1, FlipCrop(padding=2), None, Stream.STORED_WEAK),
    Look("strong", 0, FlipCrop(padding=3), None, Stream.STORED_STRONG),
]
RECIPES = {"plain": "", "weak": "2 pixels", "strong": "3 pixels"}
IN_PARTS = 3  # of 128, 128 and 44 images


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "smoothpl" / "features"


class Counting(Engine):
    """Counts images, and dies or fails before a certain one."""

    def __init__(self, last: int | None = None) -> None:
        super().__init__(tiny_encoder(), "counting", self.count)
        self.number, self.last = 0, last

    def count(self, prepared: torch.Tensor) -> torch.Tensor:
        self.number += len(prepared)
        if self.last is not None and self.number > self.last:
            os.kill(os.getpid(), signal.SIGKILL)
        found: torch.Tensor = self.encoder.network(prepared)
        return found


def ensure(engine: Engine, number: int = len(IMAGES)) -> None:
    some = ImageSet(IMAGES.images[:number], IMAGES.labels[:number])
    Bank(engine, RECIPES).ensure(some, CONTENTS[:number], LOOKS)


def vectors(look: Look) -> torch.Tensor:
    column = Bank(tiny_engine(), RECIPES).column(look)
    return column.open()[torch.from_numpy(column.rows_of(CONTENTS))]


def expected(look: Look) -> torch.Tensor:
    (pixels,) = pixels_of(IMAGES, torch.arange(len(IMAGES)), CONTENTS, [look])
    found: torch.Tensor = tiny_encoder()(pixels).half()
    return found


def made(engine: Counting) -> int:
    return engine.number


def test_every_look_at_every_image_goes_through_the_backbone(capsys: pytest.CaptureFixture[str]) -> None:
    ensure(tiny_engine())
    for look in LOOKS:
        assert vectors(look).equal(expected(look))
    assert "300 images, 3 views of each, through tiny (torch): about 0 s and 173 kB, once." in capsys.readouterr().err


def test_a_second_time_nothing_is_made_and_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    ensure(tiny_engine())
    capsys.readouterr()
    again = Counting()
    ensure(again)
    assert again.number == 0
    assert capsys.readouterr().err == ""


def test_added_images_cost_only_themselves() -> None:
    ensure(tiny_engine(), number=280)
    rest = Counting()
    ensure(rest)
    tried = 2 * len(LOOKS) * bank_file.TRIED  # for the time that is told
    assert rest.number == 20 * len(LOOKS) + tried
    for look in LOOKS:
        assert vectors(look).equal(expected(look))


def fill_until_killed(last: int) -> None:
    ensure(Counting(last))


def fill_alone(place: str) -> None:
    engine = Counting()
    ensure(engine)
    Path(place).write_text(str(engine.number))


def process(work: Any, argument: Any) -> Any:
    started = multiprocessing.get_context("spawn").Process(target=work, args=(argument,))
    started.start()
    return started


@pytest.mark.processes
def test_a_process_that_was_killed_leaves_its_parts_and_another_one_goes_on() -> None:
    killed = process(fill_until_killed, 600)
    killed.join()
    assert killed.exitcode == -signal.SIGKILL
    left = Bank(tiny_engine(), RECIPES).column(LOOKS[0]).rows_of(CONTENTS)
    assert 0 < (left >= 0).sum() < len(IMAGES)
    ensure(tiny_engine())
    for look in LOOKS:
        assert vectors(look).equal(expected(look))


@pytest.mark.processes
def test_processes_that_start_together_share_the_work(tmp_path: Path) -> None:
    places = [tmp_path / name for name in ("one", "other")]
    both = [process(fill_alone, str(place)) for place in places]
    for each in both:
        each.join()
        assert each.exitcode == 0
    for look in LOOKS:
        assert vectors(look).equal(expected(look))
        column = Bank(tiny_engine(), RECIPES).column(look)
        assert len(column.open()) == len(IMAGES)  # nothing was made twice
    tried = 2 * len(LOOKS) * bank_file.TRIED
    total = sum(int(place.read_text()) for place in places)
    assert len(IMAGES) * len(LOOKS) <= total <= len(IMAGES) * len(LOOKS) + 2 * tried


def test_other_weights_views_or_sizes_have_columns_of_their_own() -> None:
    def column(engine: Engine, recipe: str = "") -> Path:
        return Bank(engine, RECIPES | {"plain": recipe}).column(LOOKS[0]).folder

    usual = column(tiny_engine())
    assert column(tiny_engine()) == usual
    assert column(tiny_engine(), "another frame") != usual
    assert column(Engine(tiny_encoder(size=4), "torch", lambda _: _)) != usual


def test_a_disk_that_is_too_small_is_named_before_anything_is_made(
    monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    engine = Counting()
    with pytest.raises(ConfigError, match=r"features of these images take 173 kB, and 1\.0 kB are free; make room"):
        ensure(engine)
    assert engine.number == 0
    assert not list(cache.glob("*/vectors.f16"))


def test_a_cache_that_cannot_be_written_to_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "below"))
    message = r"Not a directory; features of images are kept there, 173 kB more for these: name another place"
    with pytest.raises(ConfigError, match=message):
        ensure(tiny_engine())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(ConfigError, match=r"these: name another place in the environment variable XDG_CACHE_HOME, a"):
        ensure(tiny_engine())


def test_a_disk_that_is_full_wants_room(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("smoothpl.data.features.bank.fill", full)
    with pytest.raises(ConfigError, match=r"No space left .*: make room, or name another place in .*made is kept\.$"):
        ensure(tiny_engine())


def test_features_that_are_not_numbers_are_refused_and_not_kept(cache: Path) -> None:
    broken = Engine(tiny_encoder(), "torch", lambda prepared: torch.full((len(prepared), 96), torch.nan))
    with pytest.raises(ConfigError, match="tiny gives vectors that are not finite"):
        ensure(broken)
    assert not list(cache.glob("*/vectors.f16"))
