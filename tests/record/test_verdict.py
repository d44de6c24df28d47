import json
from pathlib import Path
from typing import Any

import pytest

from smoothpl.errors import ConfigError
from smoothpl.metrics.paired import PairedErrors
from smoothpl.record.record import read, write
from smoothpl.record.verdict import HeldOut, Verdict, judge
from tests.support.made_up import made_up

HELPED = PairedErrors(total=1000, both=200, only_first=90, only_second=48)
HELD_OUT = PairedErrors(total=40, both=9, only_first=4, only_second=3)


def of(pairs: PairedErrors) -> Verdict:
    return judge(pairs, "test images")


def turned(pairs: PairedErrors) -> PairedErrors:
    return pairs._replace(only_first=pairs.only_second, only_second=pairs.only_first)


def test_fewer_errors_beyond_chance_have_helped_and_more_have_hurt() -> None:
    assert (of(HELPED).says, of(turned(HELPED)).says) == ("helped", "hurt")
    assert of(HELPED).gain == pytest.approx(4.2)


def test_what_may_be_chance_is_unclear() -> None:
    assert of(HELD_OUT).says == "unclear"
    assert of(PairedErrors(20, 5, 0, 0)).says == "unclear"


def test_of_few_images_the_exact_test_must_agree() -> None:
    """Of five discordant images all five, one more than the interval asks for: 2 / 2^5 is 0.06."""
    verdict = of(PairedErrors(total=40, both=5, only_first=5, only_second=0))
    assert verdict.low > 0
    assert verdict.says == "unclear"
    assert of(PairedErrors(total=40, both=5, only_first=6, only_second=0)).says == "helped"


@pytest.mark.parametrize(
    ("loss", "loss_alone", "is_alone"),
    [(1.2, 1.1, True), (1.1, 1.2, False), (1.1, 1.1, False), (1.1 + 1e-5, 1.1, False), (None, 9.0, True)],
)
def test_labels_alone_are_preferred_where_unlabeled_images_raise_the_loss_on_held_out_labels(
    loss: float | None, loss_alone: float, is_alone: bool
) -> None:
    """Whatever the errors are, and whatever test images say."""
    for pairs in (HELD_OUT, turned(HELD_OUT)):
        verdict = judge(HELPED, "test images", HeldOut(pairs, loss, loss_alone, 4))
        assert verdict.prefers_labels_alone == is_alone


def test_labels_alone_are_not_preferred_where_nothing_was_held_out_or_they_have_diverged() -> None:
    assert not of(turned(HELPED)).prefers_labels_alone
    assert not judge(HELPED, "test images", HeldOut(HELD_OUT, 3.0, None, 4)).prefers_labels_alone
    assert not judge(HELPED, "test images", HeldOut(HELD_OUT, None, None, 4)).prefers_labels_alone


def test_a_verdict_is_read_as_it_was_written(tmp_path: Path) -> None:
    for verdict in (judge(HELPED, "test images", HeldOut(HELD_OUT, 1.5, None, 4)), of(HELPED), None):
        write(tmp_path, made_up("smooth", 0, 5.0, verdict=verdict, handed_over="labels_only"))
        assert read(tmp_path).verdict == verdict
        assert read(tmp_path).handed_over == "labels_only"


@pytest.mark.parametrize(
    "change",
    [
        {"says": "sings"},
        {"gain": "much"},
        {"loss": "great"},
        {"num_parts": None},
        {"compared": None},
        {"compared": {"total": 3}},
        {"compared": {"total": 3, "both": 2, "only_first": 1, "only_second": 1}},
        {"compared": {"total": 0, "both": 0, "only_first": 0, "only_second": 0}},
        {"held_out": {"total": 3.5, "both": 0, "only_first": 1, "only_second": 1}},
    ],
)
def test_a_damaged_verdict_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    write(tmp_path, made_up("smooth", 0, 5.0, verdict=of(HELPED)))
    written = json.loads((tmp_path / "run.json").read_text())
    written["verdict"] |= change
    (tmp_path / "run.json").write_text(json.dumps(written))
    with pytest.raises(ConfigError, match=r"run\.json is damaged"):
        read(tmp_path)
