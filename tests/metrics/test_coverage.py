import pytest

from smoothpl.metrics.coverage import Alarm, CoverageStory, describe_alarm

NAMES = ["cat", "dog", "owl"]


def told(*windows: tuple[float, list[float]]) -> list[Alarm]:
    story = CoverageStory(bound=0.05)
    for number, (coverage, taught) in enumerate(windows, start=1):
        story.see(10 * number, coverage, taught)
    return story.alarms


SOME, NONE = [3.0, 2.0, 1.0], [0.0, 0.0, 0.0]


def test_coverage_that_stays_low_is_told_once() -> None:
    assert told((0.04, SOME), (0.02, SOME), (0.01, SOME)) == [Alarm(20, "low", 0.02, [])]


def test_one_low_window_may_be_chance() -> None:
    assert told((0.04, SOME), (0.5, SOME), (0.04, SOME), (0.5, SOME)) == []


def test_coverage_that_falls_to_zero_is_told_at_once() -> None:
    assert told((0.5, SOME), (0.0, NONE), (0.0, NONE)) == [Alarm(20, "gone", 0.0, [])]


def test_a_class_without_pseudo_labels_is_named_and_told_again_after_it_was_taught() -> None:
    without = [3.0, 0.0, 1.0]
    alarms = told(*[(0.5, without)] * 3, (0.5, SOME), *[(0.5, without)] * 2)
    assert alarms == [Alarm(20, "class", 0.5, [1]), Alarm(60, "class", 0.5, [1])]


def test_while_nothing_is_covered_no_class_is_blamed() -> None:
    assert [alarm.kind for alarm in told(*[(0.0, NONE)] * 5)] == ["low"]


@pytest.mark.parametrize(
    ("alarm", "words"),
    [
        (Alarm(1, "low", 0.002, []), "COVERAGE stays low: 0.20% of the unlabeled images count"),
        (Alarm(1, "gone", 0.0, []), "COVERAGE fell to zero"),
        (Alarm(1, "class", 0.5, [0, 2]), "NO PSEUDO-LABELS for cat, owl"),
    ],
)
def test_an_alarm_in_words(alarm: Alarm, words: str) -> None:
    assert describe_alarm(alarm, NAMES) == words
