"""What is known of a training step, as it passes from the network through the parts of a method to the loss."""

from collections.abc import Mapping
from typing import NamedTuple

from torch import Tensor, nn

from smoothpl.data.batch import Batch
from smoothpl.nets.output import Output
from smoothpl.pseudo.labels import Beliefs, PseudoLabels
from smoothpl.pseudo.weighting import Weighting


class TrainStep(NamedTuple):
    """It grows by fields, never by flags. A method may fill more of them than another one."""

    batch: Batch
    outputs: Mapping[str, Output]  # by view
    beliefs: Beliefs  # the one stop-gradient is behind them
    weight: Tensor  # (U,) of the pseudo-labels
    lessons: PseudoLabels  # what is taught
    network: nn.Module  # for terms that show it other images
    weighting: Weighting  # for terms that weigh by thresholds of their own, or look into the memory of a refinement

    @property
    def pseudo(self) -> PseudoLabels:
        """As the teacher gave them, before they were refined."""
        return self.beliefs.unlabeled


class Taught(NamedTuple):
    """What was taught in a step, (U,) each."""

    label: Tensor
    weight: Tensor
    confidence: Tensor
    predicted: Tensor  # the class before any alignment
