"""Teacher: who says what an unlabeled image shows. The paper's stop-gradient, sg, is here, once for all."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Protocol, final

import torch
from torch import Tensor, nn

from smoothpl.data.batch import Batch
from smoothpl.errors import ConfigError
from smoothpl.nets.output import Output
from smoothpl.nets.statistics import resting_statistics
from smoothpl.nets.stochastic import SEED, drawn
from smoothpl.pseudo.labels import PseudoLabels, from_probabilities, probabilities


class Networks(Protocol):
    """The network that learns, the one that follows it, and on what scale their logits are confidences."""

    @property
    def network(self) -> nn.Module: ...

    @property
    def average(self) -> nn.Module: ...

    def average_logits(self, images: Tensor) -> Tensor: ...

    def believe(self, logits: Tensor) -> Tensor:
        """Logits on the scale of confidences."""


class Teacher(nn.Module, ABC):
    """`needs` names views, heads and chance without which it cannot teach."""

    needs: frozenset[str] = frozenset()
    looks_itself = False
    """Whether it looks at the weak view, so that the network need not."""

    @abstractmethod
    def forward(self, batch: Batch, outputs: Mapping[str, Output], networks: Networks) -> Tensor:
        """-> probabilities (U, C) float32 of the unlabeled images, detached."""

    def label(self, batch: Batch, outputs: Mapping[str, Output], networks: Networks) -> PseudoLabels:
        """The same, with the score of each image."""
        return from_probabilities(self(batch, outputs, networks), batch.image)


@final
class Live(Teacher):
    """The network itself, by the weak view."""

    def forward(self, batch: Batch, outputs: Mapping[str, Output], networks: Networks) -> Tensor:
        return probabilities(networks.believe(outputs["weak"].logits).detach())


@final
class Average(Teacher):
    """The average of the network's weights (Mean Teacher), which normalises by its own batch, as in training."""

    looks_itself = True

    @torch.no_grad()
    def forward(self, batch: Batch, outputs: Mapping[str, Output], networks: Networks) -> Tensor:
        with resting_statistics(networks.average):
            logits = networks.average_logits(batch.weak)
        return probabilities(networks.believe(logits))


@final
class MeanOf(Teacher):
    """The mean of what the network believes by several views of an image (MixMatch)."""

    def __init__(self, views: Sequence[str]) -> None:
        super().__init__()
        if not views:
            raise ConfigError("teacher.views=[] must name at least one view, for example [weak, weak2].")
        self.views = views
        self.needs = frozenset(views) - {"weak", "strong"}

    def forward(self, batch: Batch, outputs: Mapping[str, Output], networks: Networks) -> Tensor:
        each = [probabilities(networks.believe(outputs[view].logits).detach()) for view in self.views]
        return torch.stack(each).mean(dim=0)


@final
class OfHead(Teacher):
    """A head of its own, by the weak view."""

    def __init__(self, head: str) -> None:
        super().__init__()
        self.head = head
        self.needs = frozenset({head})

    def forward(self, batch: Batch, outputs: Mapping[str, Output], networks: Networks) -> Tensor:
        return probabilities(outputs["weak"].heads[self.head].detach())


@final
class Ensemble(Teacher):
    """Several draws of a stochastic last layer (STOCO): they teach by their mean.

    Their consensus is the product of their probabilities, in the class where that is largest. The first draw is the one
    that learns.
    """

    def __init__(self, draws: int = 5, head: str = "stochastic") -> None:
        super().__init__()
        if type(draws) is not int or draws < 1:
            raise ConfigError(f"teacher.draws={draws} must be a positive whole number; 5 is published.")
        self.draws, self.head = draws, head
        self.needs = frozenset({head, SEED})

    def every_draw(self, batch: Batch, outputs: Mapping[str, Output], networks: Networks) -> Tensor:
        """-> (draws, U, C)."""
        weak, seed = outputs["weak"], batch.chance[SEED]
        with torch.no_grad():
            further = [drawn(networks.network, self.head, weak, seed, draw) for draw in range(1, self.draws)]
        return torch.stack([probabilities(networks.believe(each.detach())) for each in (weak.logits, *further)])

    def forward(self, batch: Batch, outputs: Mapping[str, Output], networks: Networks) -> Tensor:
        return self.every_draw(batch, outputs, networks).mean(dim=0)

    def label(self, batch: Batch, outputs: Mapping[str, Output], networks: Networks) -> PseudoLabels:
        each = self.every_draw(batch, outputs, networks)
        return from_probabilities(each.mean(dim=0), batch.image, each.prod(dim=0).amax(dim=1))
