import csv
import sys
from pathlib import Path
from typing import Any

import pytest

from smoothpl import dashboard
from smoothpl.errors import ConfigError
from smoothpl.train import train
from tests.composing import TINY, composed

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of wandb_workspaces itself


def test_the_dashboard_shows_what_a_run_logs_and_nothing_else(tmp_path: Path) -> None:
    train(composed(*TINY, "threshold=0.12", "pictures=false"), tmp_path)
    with (tmp_path / "logs" / "metrics.csv").open() as file:
        logged = set(next(csv.reader(file)))
    shown = [key for plots in dashboard.SECTIONS.values() for keys in plots.values() for key in keys]
    assert set(shown) <= logged
    assert len(shown) == len(set(shown))


def test_a_workspace_is_saved_with_all_sections(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    from wandb_workspaces.workspaces import Workspace

    saved: list[Any] = []
    monkeypatch.setattr(Workspace, "save", lambda self: saved.append(self._to_model()) or self)
    monkeypatch.setattr(Workspace, "url", "https://wandb.ai/me/smoothpl")
    monkeypatch.setattr(sys, "argv", ["dashboard", "entity=me"])
    dashboard.main()
    assert "workspace: https://wandb.ai/me/smoothpl" in capsys.readouterr().out
    (view,) = saved
    written = view.model_dump_json()
    for word in ("Error", "Collapse", "Pseudo-labels", "Pictures", "val/error", "train/purity", "confusion"):
        assert f'"{word}"' in written


def test_whose_it_is_must_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for words in (["project=x"], ["entity=me", "color=red"]):
        monkeypatch.setattr(sys, "argv", ["dashboard", *words])
        with pytest.raises(ConfigError, match=r"this command takes entity=\.\.\. and project="):
            dashboard.main()


def test_without_its_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb_workspaces", None)
    with pytest.raises(ConfigError, match="pip install wandb-workspaces"):
        dashboard.build_workspace("me", "smoothpl")
