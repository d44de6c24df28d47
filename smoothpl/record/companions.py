"""Runs that stand beside a run, in its own directory: a stage of it, or what judges it. Nobody counts them with it."""

from collections.abc import Iterator
from pathlib import Path

from smoothpl.layout import HEAD, LABELS_ONLY, PARTS, RECORD


def main_run_of(run_dir: Path) -> Path | None:
    """The run beside which another one stands; None if it stands alone."""
    inside_parts = run_dir.parent.parent if run_dir.parent.name == PARTS else None
    main = run_dir.parent if run_dir.name in (HEAD, LABELS_ONLY) else inside_parts
    return main if main is not None and (main / RECORD).is_file() else None


def runs_below(place: Path) -> Iterator[Path]:
    """The directories of all runs in a directory or below it, without those that stand beside another one there."""
    for path in place.rglob(RECORD):
        main = main_run_of(path.parent)
        if main is None or not main.is_relative_to(place):
            yield path.parent
