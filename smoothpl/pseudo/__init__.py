"""From logits to weights: pseudo-labels, alignment, threshold policies, shapes, targets."""

from smoothpl.pseudo.alignment import Alignment, RunningAlignment, Unaligned
from smoothpl.pseudo.annealing import Annealing
from smoothpl.pseudo.curriculum import Curriculum
from smoothpl.pseudo.dash import LossSchedule
from smoothpl.pseudo.fairness import Fairness
from smoothpl.pseudo.labels import Beliefs, PseudoLabels, probabilities, pseudo_labels
from smoothpl.pseudo.policies import Everybody, Fixed, Relative, Running, SelfAdaptive, ThresholdPolicy
from smoothpl.pseudo.shapes import AnyShape, Gaussian, Power, Shape, Step
from smoothpl.pseudo.smoothness import obstacles
from smoothpl.pseudo.targets import Hard, Sharpened, Soft, Target
from smoothpl.pseudo.weighting import Weighting

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
    "obstacles",
    "probabilities",
    "pseudo_labels",
]
