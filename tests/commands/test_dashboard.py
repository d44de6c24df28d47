from typing import Any

import pytest

from smoothpl.commands import dashboard
from smoothpl.errors import ConfigError

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of wandb_workspaces itself


def test_a_workspace_is_saved_with_all_sections(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from wandb_workspaces.workspaces import Workspace

    saved: list[Any] = []

    def save(workspace: Any) -> Any:
        saved.append(workspace._to_model())
        return workspace

    monkeypatch.setattr(Workspace, "save", save)
    monkeypatch.setattr(Workspace, "url", "https://wandb.ai/me/smoothpl")
    dashboard.main(["entity=me"])
    assert "workspace: https://wandb.ai/me/smoothpl" in capsys.readouterr().out
    (view,) = saved
    written = view.model_dump_json()
    for word in ("Error", "Collapse", "Pseudo-labels", "Pictures", "val/error", "train/purity", "confusion"):
        assert f'"{word}"' in written


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["project=x"], r"entity=\.\.\. must be given"),
        (["entity=me", "color=red"], "color=red is not an option of this command; its options are entity=, project="),
    ],
)
def test_a_mistake_is_one_message(arguments: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        dashboard.main(arguments)
