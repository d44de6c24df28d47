"""Refinement: what is believed of unlabeled images, corrected before it is held against a threshold."""

from abc import ABC
from collections.abc import Mapping, Sequence

from torch import Tensor, nn

from smoothpl.data.batch import Batch
from smoothpl.nets.output import Output
from smoothpl.pseudo.labels import Beliefs
from smoothpl.pseudo.obstacles import Obstacle

Outputs = Mapping[str, Output]


class Refinement(nn.Module, ABC):
    """A method may have several, one after the other: each sees what the one before it has left.

    `see` a step first, `refine` it, and `observe` it when all is done. Memory is in buffers; what is remembered is that
    of all ranks, so that every rank remembers the same.
    """

    teaches = True
    """Whether the corrected probabilities are also what is taught, or weigh only."""
    weighs = True
    """Whether they also weigh, or are taught only."""
    whole_batch = False
    """Whether it compares images with each other: then a step cannot be computed in parts (accumulate)."""
    needs: frozenset[str] = frozenset()
    """Views and heads without which it cannot work."""

    from_network = False
    """Whether its memory is of what the network believes, so that it must be the first, and align=none."""

    def prepare(self, labeled_per_class: Tensor) -> None:
        """Called once, before training, with (C,) how many images of every class carry labels."""

    def prepare_images(self, num_unlabeled: int, num_labeled: int) -> None:
        """Called once, before training, with the sizes of the fold."""

    def see(self, beliefs: Beliefs) -> None:
        """Takes note of a step of all ranks."""

    def refine(self, probabilities: Tensor, outputs: Outputs | None, image: Tensor | None) -> Tensor:
        """(U, C) -> (U, C), of the images `image` (U,). `outputs`: what the network makes of every view.

        Where there are no outputs, a refinement that looks at features leaves probabilities as they are.
        """
        refined: Tensor = self(probabilities)
        return refined

    def for_learning(self, logits: Tensor) -> Tensor:
        """(..., C) logits of the view that learns -> those that the lesson compares with its target."""
        return logits

    def observe(self, probabilities: Tensor, outputs: Outputs, batch: Batch) -> None:
        """Takes note of a step of this rank, with the probabilities (U, C) as they came here."""

    def obstacles(self) -> Sequence[Obstacle]:
        """Why what it gives is not a continuous function of what it gets, if it is not."""
        return ()
