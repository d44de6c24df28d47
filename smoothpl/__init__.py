"""smoothpl: image classification with few labels, by smooth pseudo-labels."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smoothpl.losses import factor_loss as factor_loss
    from smoothpl.losses import labeled_loss as labeled_loss
    from smoothpl.losses import unlabeled_loss as unlabeled_loss
    from smoothpl.nets import WideResNet as WideResNet
    from smoothpl.pseudo import Fixed as Fixed
    from smoothpl.pseudo import Power as Power
    from smoothpl.pseudo import Step as Step
    from smoothpl.pseudo import Weighting as Weighting
    from smoothpl.pseudo import pseudo_labels as pseudo_labels

# Looked up on first use: `--help` and a config error must not wait for torch.
_HOMES = {
    **dict.fromkeys(["factor_loss", "labeled_loss", "unlabeled_loss"], "smoothpl.losses"),
    **dict.fromkeys(["Fixed", "Power", "Step", "Weighting", "pseudo_labels"], "smoothpl.pseudo"),
    "WideResNet": "smoothpl.nets",
}
__all__ = list(_HOMES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'smoothpl' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
