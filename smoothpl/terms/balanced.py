"""A second classifier that sees all classes alike often, because frequent ones are left out by chance (ABC)."""

from collections.abc import Sequence

import torch
from torch import Tensor

from smoothpl.errors import ConfigError
from smoothpl.nets.forwards import confidences_of
from smoothpl.nets.with_heads import base_of
from smoothpl.pseudo.distances import CrossEntropy
from smoothpl.pseudo.labels import from_probabilities, probabilities
from smoothpl.pseudo.obstacles import SHAPE_JUMPS, Obstacle
from smoothpl.pseudo.shapes import Gaussian, jumps
from smoothpl.pseudo.targets import Hard, Target
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.pseudo.weighting import Weighting
from smoothpl.ranks import own_share
from smoothpl.terms.term import Term

CHANCE = "balance"
TIES = Obstacle(
    "masks and targets by the dominant class jump where two classes tie",
    "terms.balanced.threshold=0.5 or, with a soft target, terms.balanced.masks=expected",
    ("terms.balanced.threshold=0.5",),
)


class Balanced(Term):
    """E over L of m_l CE(y, b) + the sum over views of E over U of weight * m_u CE(target, b(view)), b being the head.

    A label counts with probability N_min / N_y, N being how many labels a class has, and a pseudo-label of b itself
    with 1 - t (1 - N_min / N_yhat), t being the share of the run that is done. `masks="drawn"`: chance has decided in
    the loader; `"expected"`: they count by their probability, that of an unlabeled image being the mean over all
    classes that it may be of. The weight is that of the method's shape above a threshold of its own.
    """

    def __init__(
        self,
        max_steps: int,
        target: Target,
        threshold: float = 0.95,
        masks: str = "drawn",
        weight: float = 1.0,
        views: Sequence[str] = ("strong", "strong2"),
        head: str = "balanced",
    ) -> None:
        super().__init__(weight)
        if masks not in ("drawn", "expected"):
            raise ConfigError(f"terms.balanced.masks={masks} must be drawn (as published) or expected.")
        if not 0 < threshold < 1:
            raise ConfigError(f"terms.balanced.threshold={threshold} must lie between 0 and 1; 0.95 is published.")
        self.max_steps, self.target, self.threshold = max_steps, target, threshold
        self.is_drawn, self.views, self.head = masks == "drawn", views, head
        self.needs = frozenset({*views, head}) - {"weak", "strong"} | ({CHANCE} if self.is_drawn else set())
        self.rarity: Tensor  # (C,) N_min / N_c
        self.steps: Tensor
        self.register_buffer("rarity", torch.ones(1))
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))

    def prepare(self, num_unlabeled: int, labeled_per_class: Tensor) -> None:
        without = (labeled_per_class == 0).nonzero().squeeze(1).tolist()
        if without:
            raise ConfigError(
                f"terms.balanced leaves labels out until all classes have as many as the rarest, but class {without[0]}"
                " has none; use split=balanced, split=imbalanced, or another method."
            )
        count = labeled_per_class.to(self.rarity.device)
        self.rarity = (count.min() / count).float()

    def forward(self, step: TrainStep) -> Tensor:
        logits = {view: step.outputs[view].heads[self.head] for view in ("labeled", "weak", *self.views)}
        label, base = step.batch.label, base_of(step.network)
        pseudo = from_probabilities(probabilities(confidences_of(base, logits["weak"].detach())))
        time = (self.steps / self.max_steps).clamp(max=1)
        kept = 1 - time * (1 - self.rarity)
        if self.is_drawn:
            of_labeled, of_unlabeled = own_rows(step.batch.chance[CHANCE], [len(label), len(pseudo.label)])
            labeled_mask = (of_labeled < self.rarity[label]).float()
            unlabeled_mask = (of_unlabeled < kept[pseudo.label]).float()
        else:
            labeled_mask, unlabeled_mask = self.rarity[label], (pseudo.probabilities * kept).sum(dim=1)
        sure = step.weighting.weigh(pseudo.confidence, torch.full_like(pseudo.confidence, self.threshold))
        weight, target, distance = sure * unlabeled_mask, self.target(pseudo), CrossEntropy()
        loss = (labeled_mask * distance(logits["labeled"], label)).mean()
        for view in self.views:
            loss = loss + (weight * distance(logits[view], target)).mean()
        return loss

    def observe(self, step: TrainStep) -> None:
        self.steps += 1

    def obstacles(self, weighting: Weighting) -> Sequence[Obstacle]:
        found = [SHAPE_JUMPS] if jumps(weighting.shape) else []
        vanishes = max(self.threshold, weighting.floor) >= 0.5 and not isinstance(weighting.shape, Gaussian)
        if (self.is_drawn or isinstance(self.target, Hard)) and not vanishes:
            found.append(TIES)
        return found


def own_rows(drawn: Tensor, sizes: Sequence[int]) -> list[Tensor]:
    """Of numbers for the images of all ranks, the labeled ones first, those of this rank, which has so many of each."""
    ranks = len(drawn) // sum(sizes)
    return [own_share(each) for each in torch.split(drawn, [ranks * size for size in sizes])]
