from pathlib import Path

from smoothpl.loggers.curves import Curves
from smoothpl.record.curves import read_curves


def test_what_a_run_logs_is_read_back_row_by_row(tmp_path: Path) -> None:
    assert read_curves(tmp_path) == []
    logger = Curves(tmp_path)
    logger.log_metrics({"train/loss": 2.5}, 9)
    logger.log_metrics({"val/error": 12.0}, 10)
    assert read_curves(tmp_path) == [
        {"step": "9", "train/loss": "2.5", "val/error": ""},
        {"step": "10", "train/loss": "", "val/error": "12.0"},
    ]
