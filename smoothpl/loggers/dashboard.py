"""A workspace in Weights & Biases that suits what a run logs there."""

from typing import TYPE_CHECKING, Any

from smoothpl.errors import ConfigError

if TYPE_CHECKING:
    from wandb_workspaces.workspaces import Workspace


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
