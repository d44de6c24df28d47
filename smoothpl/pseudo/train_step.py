"""What is known of a training step, as it passes from the network through the parts of a method to the loss."""

from collections.abc import Mapping
from typing import NamedTuple

from torch import Tensor

from smoothpl.data.batch import Batch
from smoothpl.pseudo.labels import Beliefs, PseudoLabels


class Output(NamedTuple):
    """What the network makes of the images of one view. Of several backbones logits are (n, heads, C)."""

    logits: Tensor  # (n, C)
    features: Tensor | None = None  # (n, D), where the method has heads of its own
    heads: Mapping[str, Tensor] = {}  # what these heads make of the features, by name


class TrainStep(NamedTuple):
    """It grows by fields, never by flags. A method may fill more of them than another one."""

    batch: Batch
    outputs: Mapping[str, Output]  # by view
    beliefs: Beliefs  # the one stop-gradient is behind them
    believed: Tensor  # (U, C) logits of the weak view that are believed in, with their gradient
    weight: Tensor  # (U,) of the pseudo-labels
    lessons: PseudoLabels  # what is taught

    @property
    def pseudo(self) -> PseudoLabels:
        """As the teacher gave them, before they were refined."""
        return self.beliefs.unlabeled
