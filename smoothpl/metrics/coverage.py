"""Coverage: whether any unlabeled image is learned from, and whether every class is taught."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from smoothpl.cli.messages import first_few

PATIENCE = 2
"""Windows in a row, before it counts: one may be chance."""
Kind = Literal["low", "gone", "class"]
"""Coverage stays below the bound; it was above and fell to nothing; a class gets no pseudo-labels."""


class Alarm(NamedTuple):
    step: int
    kind: Kind
    coverage: float
    classes: list[int]  # that get no pseudo-labels


class CoverageStory:
    """Window after window of a run: the share of unlabeled images that count, and how many of every class."""

    def __init__(self, bound: float, alarms: list[Alarm] | None = None, quiet: list[int] | None = None) -> None:
        self.bound = bound
        self.alarms = alarms or []
        self.quiet = quiet or []
        """How many windows in a row: coverage was low, then how many every class was without pseudo-labels."""
        self.was_covered = False

    def see(self, step: int, coverage: float, taught: list[float]) -> list[Alarm]:
        """Takes in a window; `taught`: pseudo-labels of each class. -> alarms that are new."""
        is_low = coverage < self.bound
        before = self.quiet or [0] * (1 + len(taught))
        # While nothing is covered no class is either, which is said by the first alarm.
        lacking = [is_low, *(number == 0 and not is_low for number in taught)]
        self.quiet = [count + 1 if lacks else 0 for count, lacks in zip(before, lacking, strict=True)]
        news: list[Alarm] = []
        if self.was_covered and coverage == 0 and before[0] == 0:
            news.append(Alarm(step, "gone", coverage, []))
        elif self.quiet[0] == PATIENCE and not (self.was_covered and coverage == 0):
            news.append(Alarm(step, "low", coverage, []))
        classes = [number for number, count in enumerate(self.quiet[1:]) if count == PATIENCE]
        news += [Alarm(step, "class", coverage, classes)] if classes else []
        self.was_covered = self.was_covered or not is_low
        self.alarms += news
        return news


def describe_alarm(alarm: Alarm, names: Sequence[str]) -> str:
    if alarm.kind == "class":
        return f"NO PSEUDO-LABELS for {first_few([names[number] for number in alarm.classes])}"
    if alarm.kind == "gone":
        return "COVERAGE fell to zero"
    return f"COVERAGE stays low: {alarm.coverage:.2%} of the unlabeled images count"
