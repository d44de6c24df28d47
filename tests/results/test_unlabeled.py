from pathlib import Path

import pytest

from smoothpl.metrics.paired import PairedErrors
from smoothpl.record.record import Record, write
from smoothpl.record.verdict import HeldOut, judge
from smoothpl.results.unlabeled import describe, handed_over, of_runs, sentences

FEWER = PairedErrors(total=1000, both=200, only_first=90, only_second=48)
MORE = PairedErrors(total=1000, both=200, only_first=48, only_second=90)
FEW = PairedErrors(total=40, both=9, only_first=3, only_second=4)
HELD_OUT = "labeled images, each held out once, in 5 parts"


def of(pairs: PairedErrors, action: str = "tell", chosen: str = "", parts: int = 5) -> Record:
    verdict = judge(pairs, HELD_OUT, HeldOut(pairs, 1.25, None if parts == 1 else 1.125, parts))
    return Record({"verdict": {"action": action}}, "abc", verdict=verdict, handed_over=chosen)


def test_what_helped_and_what_hurt_is_said_in_points_with_its_interval() -> None:
    assert describe(judge(FEWER, "test images")) == (
        "The unlabeled images helped: 4.2 points fewer errors (95 % interval 1.9 to 6.5), on 1,000 test images."
    )
    assert describe(judge(MORE, "test images")) == (
        "The unlabeled images hurt: 4.2 points more errors (95 % interval 1.9 to 6.5), on 1,000 test images."
    )


def test_where_it_cannot_be_told_that_is_said_and_why() -> None:
    assert sentences(of(FEW)) == [
        "Cannot tell with so few labels whether the unlabeled images helped: 2.5 points more errors (95 % interval "
        "17.3 more to 12.1 fewer), on 40 labeled images, each held out once, in 5 parts."
    ]
    even = describe(judge(PairedErrors(500, 50, 4, 4), "test images"))
    assert even.startswith("Cannot tell by these test images whether the unlabeled images helped: as many errors as")


def test_the_exact_test_is_named_where_the_interval_would_be_too_sure() -> None:
    said = describe(judge(PairedErrors(40, 5, 5, 0), "test images"))
    assert "12.5 points fewer errors (95 % interval 2.6 fewer to 26.1 fewer, but p = 0.0625), on 40" in said


def test_many_images_tell_hundredths() -> None:
    assert "0.50 points more errors (95 % interval 0.08 to 0.92), on 10,000 test images" in describe(
        judge(PairedErrors(10_000, 3_000, 200, 250), "test images")
    )


def test_the_first_sentence_says_that_labels_alone_are_handed_over() -> None:
    first, second = sentences(of(FEW, "choose", "labels_only"))
    assert first == (
        "Handed over is the network of labels alone: on 40 labels, held out in 5 parts, the loss at the best "
        "temperature is 1.250 with "
        "unlabeled images and 1.125 without (13 and 12 errors)."
    )
    assert second.startswith("Cannot tell with so few labels")


def test_otherwise_the_verdict_comes_first() -> None:
    first, second = sentences(of(FEWER, "choose", parts=1))
    assert first.startswith("The unlabeled images helped")
    assert second == (
        "Handed over is the network with unlabeled images: on 1000 labels, held out in one part only, the loss at the "
        "best temperature is "
        "1.250 with unlabeled images and infinite without (248 and 290 errors)."
    )


def test_it_is_said_if_nothing_could_be_held_out() -> None:
    record = Record({"verdict": {"action": "choose"}}, "abc", verdict=judge(FEWER, "test images"))
    assert "no class has two labels, so none could be held out" in sentences(record)[1]


def test_nothing_is_said_where_nothing_was_asked() -> None:
    assert sentences(Record({}, "abc")) == []


@pytest.mark.parametrize("chosen", ["", "labels_only"])
def test_what_is_shown_is_the_run_that_is_used(tmp_path: Path, chosen: str) -> None:
    (tmp_path / "labels_only").mkdir()
    write(tmp_path / "labels_only", Record({}, "twin"))
    record, place = handed_over(Record({}, "run", handed_over=chosen), tmp_path)
    assert (record.recipe, place) == (("twin", tmp_path / "labels_only") if chosen else ("run", tmp_path))


def test_several_runs_are_counted() -> None:
    verdicts = [judge(pairs, "test images") for pairs in (FEWER, FEWER, MORE, FEW)]
    assert of_runs("smooth", verdicts, 0) == (
        "smooth: in 4 runs the unlabeled images helped in 2, hurt in 1, and it cannot be told in 1; mean gain over "
        "labels alone 0.43 points."
    )
    assert of_runs("smooth", verdicts[:1], 1) == (
        f"smooth: {describe(verdicts[0])} Labels alone are handed over in 1; the errors here are those with unlabeled "
        "images."
    )
