"""Whether the unlabeled images have helped, in words; and which network is handed over, and why."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from smoothpl.record.record import Record, read
from smoothpl.record.verdict import SIGNIFICANT, Verdict
from smoothpl.results.sheets import format_p

MANY = 2_000
"""Images: with so many, hundredths of a point are told."""


def sentences(record: Record) -> list[str]:
    """What is to be known first comes first; nothing where no verdict was asked for."""
    if record.verdict is None:
        return []
    found = [describe(record.verdict)]
    if (record.config.get("verdict") or {}).get("action") == "choose":
        found.append(describe_choice(record, record.verdict))
    return found[::-1] if record.handed_over else found


def describe(verdict: Verdict) -> str:
    images = f"{verdict.compared.total:,} {verdict.tested_on}"
    if verdict.says != "unclear":
        ends = (verdict.low, verdict.high) if verdict.gain > 0 else (-verdict.high, -verdict.low)
        between = " to ".join(points(end, verdict) for end in ends)
        return f"The unlabeled images {verdict.says}: {difference(verdict)} (95 % interval {between}), on {images}."
    reason = "with so few labels" if verdict.held_out == verdict.compared else "by these test images"
    between = f"{side(verdict.low, verdict)} to {side(verdict.high, verdict)}"
    if not verdict.low <= 0 <= verdict.high and verdict.p >= SIGNIFICANT:  # so few differ that the interval is too sure
        between += f", but p = {format_p(verdict.p)}"
    doubt = f"Cannot tell {reason} whether the unlabeled images helped"
    return f"{doubt}: {difference(verdict)} (95 % interval {between}), on {images}."


def difference(verdict: Verdict) -> str:
    if verdict.compared.only_first == verdict.compared.only_second:
        return "as many errors as from labels alone"
    return f"{points(abs(verdict.gain), verdict)} points {'fewer' if verdict.gain > 0 else 'more'} errors"


def side(end: float, verdict: Verdict) -> str:
    return f"{points(abs(end), verdict)} {'fewer' if end > 0 else 'more'}"


def points(value: float, verdict: Verdict) -> str:
    return f"{value:.{2 if verdict.compared.total >= MANY else 1}f}"


def describe_choice(record: Record, verdict: Verdict) -> str:
    held_out = verdict.held_out
    if held_out is None:
        return "Handed over is the network with unlabeled images: no class has two labels, so none could be held out."
    parts = f"in {verdict.num_parts} parts" if verdict.num_parts > 1 else "in one part only"
    chosen = "of labels alone" if record.handed_over else "with unlabeled images"
    return (
        f"Handed over is the network {chosen}: on {held_out.total} labels, held out {parts}, the loss at the best "
        f"temperature is {loss(verdict.loss)} with unlabeled images and {loss(verdict.loss_alone)} without "
        f"({held_out.second} and {held_out.first} errors)."
    )


def loss(value: float | None) -> str:
    return "infinite" if value is None else f"{value:.3f}"


def handed_over(record: Record, run_dir: Path) -> tuple[Record, Path]:
    """The run whose network is used, and where it is."""
    place = run_dir / record.handed_over
    return (read(place), place) if record.handed_over else (record, run_dir)


def of_runs(label: str, verdicts: Sequence[Verdict], num_handed_over: int) -> str:
    """Several runs of one recipe; `num_handed_over`: of how many the network of labels alone is used."""
    if len(verdicts) == 1:
        said = f"{label}: {describe(verdicts[0])}"
    else:
        words = Counter(verdict.says for verdict in verdicts)
        said = (
            f"{label}: in {len(verdicts)} runs the unlabeled images helped in {words['helped']}, hurt in "
            f"{words['hurt']}, and it cannot be told in {words['unclear']}; mean gain over labels alone "
            f"{mean(verdict.gain for verdict in verdicts):z.2f} points."
        )
    if num_handed_over:
        said += f" Labels alone are handed over in {num_handed_over}; the errors here are those with unlabeled images."
    return said
