"""logs/metrics.csv: the curves of a run, one row for each time that something was logged."""

import csv
from argparse import Namespace
from io import StringIO
from pathlib import Path
from typing import Any

from lightning.pytorch.loggers import Logger
from lightning.pytorch.utilities import rank_zero_only

from smoothpl.io.atomic import write_text
from smoothpl.layout import LOGS
from smoothpl.record.curves import curves_path, read_curves


class Curves(Logger):
    """A table that can be cut back to the row at which a checkpoint was written.

    Lightning's CSVLogger deletes what it finds when a run is resumed.
    """

    def __init__(self, save_dir: str | Path) -> None:
        super().__init__()
        self.run_dir = Path(save_dir)
        self.path = curves_path(self.run_dir)
        self.columns: list[str] = []
        self.num_rows = 0

    @property
    def name(self) -> str:
        return LOGS

    @property
    def version(self) -> str:
        return ""

    @rank_zero_only
    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        if not metrics:
            return
        row = {**metrics, "step": step}
        if not set(row) <= set(self.columns):
            rows = self.read() if self.num_rows else []  # else they are of an earlier run in this directory
            self.columns = sorted({*self.columns, *row})
            self.write(rows)
        with self.path.open("a", newline="") as file:
            csv.DictWriter(file, self.columns).writerow(row)
        self.num_rows += 1

    @rank_zero_only
    def log_hyperparams(self, params: dict[str, Any] | Namespace, *args: Any, **kwargs: Any) -> None:
        """Nothing to do: they are in the record."""

    @rank_zero_only
    def rewind(self, num_rows: int) -> None:
        """Removes the rows after the first `num_rows`: the resumed run logs them again."""
        rows = self.read()[:num_rows]
        self.columns = sorted(rows[0]) if rows else []
        self.num_rows = len(rows)
        self.write(rows)

    def read(self) -> list[dict[str, str]]:
        return read_curves(self.run_dir)

    def write(self, rows: list[dict[str, str]]) -> None:
        """The whole table, atomically."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = StringIO(newline="")
        writer = csv.DictWriter(text, self.columns)
        writer.writeheader()
        writer.writerows(rows)
        write_text(self.path, text.getvalue())
