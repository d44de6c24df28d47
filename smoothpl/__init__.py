"""smoothpl: image classification with few labels, by smooth pseudo-labels.

`smoothpl.load(run)` is the classifier that a run has made. The parts of a method, for a training loop of anybody's:
`from smoothpl import Fixed, Power, Weighting, ...`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smoothpl.classifier import load  # noqa: F401
    from smoothpl.losses import factor_loss, labeled_loss, unlabeled_loss  # noqa: F401
    from smoothpl.pseudo import *  # noqa: F403

LOSSES = ("factor_loss", "labeled_loss", "unlabeled_loss")


def __getattr__(name: str) -> Any:
    """Imported when asked for: the command line says no to a typo without waiting for torch."""
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "load":
        return import_module("smoothpl.classifier").load
    module = import_module("smoothpl.losses" if name in LOSSES else "smoothpl.pseudo")
    if name not in (*LOSSES, *import_module("smoothpl.pseudo").__all__):
        raise AttributeError(f"module 'smoothpl' has no attribute {name!r}")
    return getattr(module, name)
