import csv
import sys
from pathlib import Path

import pytest

from smoothpl.errors import ConfigError
from smoothpl.loggers.dashboard import SECTIONS, build_workspace
from smoothpl.run.training import train
from tests.support.composing import TINY, composed


def test_the_dashboard_shows_what_a_run_logs_and_nothing_else(tmp_path: Path) -> None:
    train(composed(*TINY, "threshold=0.12", "pictures=false"), tmp_path)
    with (tmp_path / "logs" / "metrics.csv").open() as file:
        logged = set(next(csv.reader(file)))
    shown = [key for plots in SECTIONS.values() for keys in plots.values() for key in keys]
    assert set(shown) <= logged
    assert len(shown) == len(set(shown))


def test_without_its_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb_workspaces", None)
    with pytest.raises(ConfigError, match="pip install wandb-workspaces"):
        build_workspace("me", "smoothpl")
