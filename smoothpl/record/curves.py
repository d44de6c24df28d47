"""logs/metrics.csv, read: the curves of a run, a row for every time that something was logged."""

import csv
from pathlib import Path

from smoothpl.layout import CURVES, LOGS


def curves_path(run_dir: Path) -> Path:
    return run_dir / LOGS / CURVES


def read_curves(run_dir: Path) -> list[dict[str, str]]:
    """Empty where nothing was logged (logger=none)."""
    path = curves_path(run_dir)
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
