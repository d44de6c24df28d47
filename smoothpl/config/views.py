"""The views that a method may ask for besides the weak and the strong one."""

from collections.abc import Sequence

FURTHER_VIEWS = ("weak2", "strong2", "medium", "simclr", "simclr2", "quarters", "labeled_strong")
OF_LABELED = ("labeled_strong",)
OF_OTHERS = ("quarters",)


def num_views(learned: str | None, wanted: Sequence[str]) -> int:
    """Of every unlabeled image, by the view that learns and those that a method wants; 0 for labels alone."""
    if learned is None and not wanted:
        return 0
    further = [name for name in wanted if name in FURTHER_VIEWS and name not in (*OF_LABELED, *OF_OTHERS)]
    return 1 + (learned == "strong") + len(further) + ("turn" in wanted)
