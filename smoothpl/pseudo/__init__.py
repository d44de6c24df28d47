"""From logits to weights: pseudo-labels, threshold policies, shapes, targets."""

from smoothpl.pseudo.labels import PseudoLabels, pseudo_labels
from smoothpl.pseudo.policies import Fixed, ThresholdPolicy
from smoothpl.pseudo.shapes import Power, Shape, Step
from smoothpl.pseudo.targets import Hard, Target
from smoothpl.pseudo.weighting import Weighting

__all__ = [
    "Fixed",
    "Hard",
    "Power",
    "PseudoLabels",
    "Shape",
    "Step",
    "Target",
    "ThresholdPolicy",
    "Weighting",
    "pseudo_labels",
]
