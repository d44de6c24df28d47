"""The graph: images that are believed to show the same thing should have similar embeddings (CoMatch)."""

from collections.abc import Sequence

import torch
from torch import Tensor

from smoothpl.pseudo.obstacles import SHAPE_JUMPS, Obstacle
from smoothpl.pseudo.shapes import jumps
from smoothpl.pseudo.similarity import similarity
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.pseudo.weighting import Weighting
from smoothpl.ranks import of_all_ranks, whole_batch
from smoothpl.terms.term import Term


class Graph(Term):
    """E over i of -sum_j Q_ij log softmax_j(g_i . g'_j / temperature), g and g' of two views.

    Q_ij = q_i . q_j is what both images are believed to share, 1 for an image with itself. It counts by how far it is
    above the threshold, by the shape of the method; rows are normalised.
    """

    whole_batch = True

    def __init__(
        self,
        threshold: float = 0.8,
        temperature: float = 0.2,
        weight: float = 1.0,
        views: Sequence[str] = ("strong", "strong2"),
        head: str = "projection",
    ) -> None:
        super().__init__(weight)
        self.threshold, self.temperature = threshold, temperature
        self.views, self.head = views, head
        self.needs = frozenset({*views, head}) - {"weak", "strong"}

    def forward(self, step: TrainStep) -> Tensor:
        believed: Tensor = of_all_ranks(step.lessons.probabilities)
        one, other = (whole_batch(step.outputs[view].heads[self.head]) for view in self.views)
        shared = similarity(believed, believed)
        itself = torch.eye(len(shared), dtype=torch.bool, device=shared.device)
        shared = torch.where(itself, 1, shared)
        edges = shared * step.weighting.weigh(shared, torch.full_like(shared, self.threshold))
        edges = edges / edges.sum(dim=1, keepdim=True)
        return -(edges * similarity(one, other, self.temperature).log_softmax(dim=1)).sum(dim=1).mean()

    def obstacles(self, weighting: Weighting) -> Sequence[Obstacle]:
        return [SHAPE_JUMPS] if jumps(weighting.shape) else []
