"""The verdict on a run in words: whether it is better than guessing, how often it is right, and where it is weakest."""

from collections.abc import Sequence

from torch import Tensor

from smoothpl.metrics.interval import interval

WIDE = 20
"""Points of the interval from which on the test says little."""
LEVELS = {5: "Good", 20: "Useful if somebody checks its answers", 50: "Weak", 101: "Wrong more often than right"}
"""What errors below so many percent are called."""


def verdict(confusion: Tensor, names: Sequence[str]) -> str:
    """confusion (C, C) counts, with at least one image."""
    tested = confusion.sum(dim=1)
    total, right = int(tested.sum()), int(confusion.trace())
    error = 100 * (total - right) / total
    low, high = interval(total - right, total)
    commonest = int(tested.argmax())
    guessing = 100 * (total - int(tested[commonest])) / total
    if high >= guessing:
        how = "No better than guessing" if error >= guessing else "Not clearly better than guessing"
        found = f"{how}: always answering {names[commonest]} would be wrong on {guessing:.0f} % of these images."
    else:
        found = f"{describe_share(error)}{describe_weakest(confusion, names)}."
    if high - low > WIDE:
        found += f" So few test images say little: the error on others may be anywhere from {low:.0f} to {high:.0f} %."
    return found


def describe_share(error: float) -> str:
    level = next(name for limit, name in LEVELS.items() if error < limit)
    if error == 0:
        return f"{level}: right on every test image"
    if error < min(LEVELS):
        return f"{level}: wrong on about 1 of {100 / error:.0f} images"
    return f"{level}: right on about {100 - error:.0f} of 100 images"


def describe_weakest(confusion: Tensor, names: Sequence[str]) -> str:
    """The class with the smallest share of right answers, if any answer is wrong."""
    tested, right = confusion.sum(dim=1).tolist(), confusion.diagonal().tolist()
    shares = {c: right[c] / number for c, number in enumerate(tested) if number}
    weakest = min(shares, key=lambda c: shares[c])
    if shares[weakest] == 1 or len(shares) == 1:
        return ""
    return f"; weakest on {names[weakest]}, with {right[weakest]} of {tested[weakest]} right"
