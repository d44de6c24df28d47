"""Whether the unlabeled images of a run have helped, as its record keeps it."""

from typing import Any, Literal, NamedTuple, get_args

from smoothpl.metrics.paired import PairedErrors

Word = Literal["helped", "hurt", "unclear"]
SIGNIFICANT = 0.05
TELLING = 1e-3
"""Of two losses: what is less than that is the order in which numbers were added."""


class HeldOut(NamedTuple):
    """Labeled images that were held out, by a run and its twin. Of both, the twin is the first in pairs."""

    pairs: PairedErrors
    loss: float | None  # the mean of -log p of the true class at the best temperature; None if it has diverged
    loss_alone: float | None
    num_parts: int  # over which they were held out


class Verdict(NamedTuple):
    """A run against its twin, which has learned from the labels alone. Of both, the twin is the first in pairs."""

    says: Word
    gain: float  # points of error that the unlabeled images save, on what both were tested on
    low: float  # 95 % interval of the gain
    high: float
    p: float  # McNemar's exact test
    compared: PairedErrors
    tested_on: str
    held_out: PairedErrors | None = None  # labeled images; see HeldOut
    loss: float | None = None
    loss_alone: float | None = None
    num_parts: int = 0

    @property
    def prefers_labels_alone(self) -> bool:
        """The rule by which the network is chosen: the unlabeled images must not raise the loss on held-out labels.

        Of a few labels the loss says more than the number of errors: it has noticed harm that errors had missed. Each
        network is taken at its best temperature, because pseudo-labels make one surer, which is not the question.
        """
        if self.held_out is None or self.loss_alone is None:
            return False
        return self.loss is None or self.loss > self.loss_alone + TELLING


def judge(compared: PairedErrors, tested_on: str, held_out: HeldOut | None = None) -> Verdict:
    """Clear is what the interval and the exact test agree on: with few images the interval is somewhat too sure."""
    low, high = compared.interval
    is_clear = compared.p < SIGNIFICANT and not low <= 0 <= high
    says: Word = ("helped" if low > 0 else "hurt") if is_clear else "unclear"
    verdict = Verdict(says, compared.gain, low, high, compared.p, compared, tested_on)
    if held_out is None:
        return verdict
    pairs, loss, loss_alone, num_parts = held_out
    return verdict._replace(held_out=pairs, loss=loss, loss_alone=loss_alone, num_parts=num_parts)


def from_written(written: Any) -> Verdict | None:
    """From the JSON of a record; a damaged one is a TypeError."""
    if written is None:
        return None
    verdict = Verdict(**written)
    compared, held_out = (None if each is None else counted(each) for each in (verdict.compared, verdict.held_out))
    numbers = (verdict.gain, verdict.low, verdict.high, verdict.p, verdict.loss or 0, verdict.loss_alone or 0)
    are_numbers = all(type(each) in (int, float) for each in (*numbers, verdict.num_parts))
    if verdict.says not in get_args(Word) or compared is None or not are_numbers:
        raise TypeError(f"verdict says {verdict.says}, {numbers}")
    return verdict._replace(compared=compared, held_out=held_out)


def counted(written: Any) -> PairedErrors:
    pairs = PairedErrors(**written)
    if any(type(count) is not int or count < 0 for count in pairs) or pairs.total < max(1, sum(pairs[1:])):
        raise TypeError(f"verdict counts {tuple(pairs)}")
    return pairs
