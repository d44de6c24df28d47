"""smoothpl: image classification with few labels, by smooth pseudo-labels.

`smoothpl.load(run)` returns the trained classifier of a run. The parts of the methods, for a training loop of your own,
are here too: `from smoothpl import Fixed, Power, Weighting`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from smoothpl.io.threads import wait_politely

if TYPE_CHECKING:
    from smoothpl.inference.classifier import load
    from smoothpl.losses import factor_loss, labeled_loss, unlabeled_loss
    from smoothpl.pseudo import (
        Alignment,
        Annealing,
        AnyShape,
        Beliefs,
        Curriculum,
        Everybody,
        Fairness,
        Fixed,
        Gaussian,
        Hard,
        LossSchedule,
        Power,
        PseudoLabels,
        Relative,
        Running,
        RunningAlignment,
        SelfAdaptive,
        Shape,
        Sharpened,
        Soft,
        Step,
        Target,
        ThresholdPolicy,
        Unaligned,
        Weighting,
        obstacles,
        probabilities,
        pseudo_labels,
    )

__all__ = [
    "Alignment",
    "Annealing",
    "AnyShape",
    "Beliefs",
    "Curriculum",
    "Everybody",
    "Fairness",
    "Fixed",
    "Gaussian",
    "Hard",
    "LossSchedule",
    "Power",
    "PseudoLabels",
    "Relative",
    "Running",
    "RunningAlignment",
    "SelfAdaptive",
    "Shape",
    "Sharpened",
    "Soft",
    "Step",
    "Target",
    "ThresholdPolicy",
    "Unaligned",
    "Weighting",
    "factor_loss",
    "labeled_loss",
    "load",
    "obstacles",
    "probabilities",
    "pseudo_labels",
    "unlabeled_loss",
]

_ELSEWHERE = {
    "load": "smoothpl.inference.classifier",
    "factor_loss": "smoothpl.losses",
    "labeled_loss": "smoothpl.losses",
    "unlabeled_loss": "smoothpl.losses",
}
"""Modules of the names that are not in smoothpl.pseudo."""

wait_politely()  # here, because everything of smoothpl comes by, and nothing has imported torch yet


def __getattr__(name: str) -> Any:
    """Imports a public name when it is first used: the command line must not wait for torch."""
    if name not in __all__:
        raise AttributeError(f"module 'smoothpl' has no attribute {name!r}")
    return getattr(import_module(_ELSEWHERE.get(name, "smoothpl.pseudo")), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
