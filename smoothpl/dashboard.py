"""python -m smoothpl.dashboard: the workspace in Weights & Biases that suits what a run logs there."""

from typing import TYPE_CHECKING, Any

from rich.console import Console

from smoothpl.cli.arguments import read_words
from smoothpl.cli.front_door import run_command
from smoothpl.errors import ConfigError

if TYPE_CHECKING:
    from wandb_workspaces.workspaces import Workspace

USAGE = """python -m smoothpl.dashboard entity=NAME [project=smoothpl]

Saves a workspace for the runs of logger=wandb: errors grouped by recipe,
collapse, pseudo-labels and pictures. entity is your user or team name.
Needs a key (wandb login) and: pip install wandb-workspaces"""
SECTIONS = {
    "Error": {
        "test error, %": ["val/error"],
        "loss": ["train/labeled_loss", "train/unlabeled_loss"],
        "accuracy on labeled images": ["train/labeled_accuracy"],
        "calibration error": ["val/calibration_error"],
    },
    "Collapse": {
        "collapsed and partly collapsed classes": ["val/collapsed_classes", "val/partly_collapsed_classes"],
        "distance of pseudo-labels from the labels' classes": ["train/class_drift"],
    },
    "Pseudo-labels": {
        "coverage and purity": ["train/coverage", "train/purity"],
        "mean weight and confidence": ["train/weight_mean", "train/confidence_mean"],
    },
}
PICTURES = ("confusion", "pseudo_labels")
COLUMNS = ("config:method", "config:fold", "config:seed", "summary:error", "summary:error_gap", "summary:collapsed")


def main() -> None:
    others, words = read_words(USAGE, "entity", "project")
    if others or "entity" not in words:
        raise ConfigError(f"{' '.join(others) or 'entity is missing'}: this command takes entity=... and project=...")
    workspace = build_workspace(words["entity"], words.get("project", "smoothpl")).save()  # type: ignore[no-untyped-call]
    Console().print(f"workspace: {workspace.url}", soft_wrap=True, markup=False, highlight=False)


def build_workspace(entity: str, project: str) -> "Workspace":
    try:
        from wandb_workspaces import reports, workspaces
    except ImportError:
        raise ConfigError("the dashboard needs a package that is not installed: pip install wandb-workspaces") from None
    panels: Any = reports.v2
    sections = [
        workspaces.Section(
            name=name,
            panels=[panels.LinePlot(title=title, x="trainer/global_step", y=keys) for title, keys in plots.items()],
            is_open=True,
        )
        for name, plots in SECTIONS.items()
    ]
    shown = workspaces.Section(
        name="Pictures", panels=[panels.MediaBrowser(title=key, media_keys=[key]) for key in PICTURES], is_open=True
    )
    return workspaces.Workspace(
        entity=entity,
        project=project,
        name="smoothpl",
        sections=[*sections, shown],
        runset_settings=workspaces.RunsetSettings(groupby=[workspaces.Metric("Group")], pinned_columns=list(COLUMNS)),
    )


if __name__ == "__main__":
    run_command(main)
