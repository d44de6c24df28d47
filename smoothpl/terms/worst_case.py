"""The worst case: a head that is right about labels and as wrong as it can be about pseudo-labels (DST)."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from smoothpl.errors import ConfigError
from smoothpl.nets.with_heads import WithHeads
from smoothpl.nets.worst_head import with_reversed_gradient
from smoothpl.pseudo.labels import one_hot
from smoothpl.pseudo.obstacles import Obstacle
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.pseudo.weighting import Weighting
from smoothpl.terms.term import Term

TIES = Obstacle(
    "the labels of the worst case jump where two classes tie, at any confidence",
    "terms.worst_case.labels=soft",
    ("terms.worst_case.labels=soft",),
)


class WorstCase(Term):
    """`labeled` CE(yhat_l, a(l)) + E over U of -log(1 - softmax(a(weak))[yhat]), a the worst head.

    The features below it learn to make that head fail: their gradient is reversed, times `strength` (2 / (1 + exp(-i /
    `warm_up_steps`)) - 1) at step i. `labels="soft"`: -log(1 - p . softmax(a(weak))) with the probabilities p of the
    network, and the true labels. The head sees labeled, weak and strong images in one batch, as the network does.
    """

    weak_learns = True

    def __init__(
        self,
        labels: str = "hard",
        labeled: float = 2.0,
        strength: float = 0.1,
        warm_up_steps: int = 100_000,
        weight: float = 0.3,
        head: str = "worst",
    ) -> None:
        super().__init__(weight)
        if labels not in ("hard", "soft"):
            raise ConfigError(f"terms.worst_case.labels={labels} must be hard (as published) or soft (continuous).")
        if not strength >= 0 or not warm_up_steps > 0:
            raise ConfigError(
                f"terms.worst_case: strength={strength} must not be negative, warm_up_steps={warm_up_steps} must be "
                "positive; 0.1 and 100000 are published."
            )
        self.is_soft, self.labeled, self.strength = labels == "soft", labeled, strength
        self.warm_up_steps, self.head = warm_up_steps, head
        self.needs = frozenset({head})
        self.steps: Tensor
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))

    def forward(self, step: TrainStep) -> Tensor:
        assert isinstance(step.network, WithHeads)
        views = [step.outputs[name].features for name in ("labeled", "weak", "strong") if name in step.outputs]
        features = torch.cat([view for view in views if view is not None])
        reversal = self.strength * torch.tanh(self.steps / (2 * self.warm_up_steps))  # 2 / (1 + exp(-x)) - 1
        logits = step.network.heads[self.head](with_reversed_gradient(features, reversal)).float()
        number = len(step.batch.label)
        of_labeled, of_weak = logits[:number], logits[number : number + len(step.batch.weak)]
        if self.is_soft:
            labels, believed = step.batch.label, step.pseudo.probabilities
        else:
            labels = step.outputs["labeled"].logits.detach().argmax(dim=1)
            believed = one_hot(step.pseudo.label, logits.shape[1])
        return self.labeled * cross_entropy(of_labeled, labels) + wrong(of_weak, believed).mean()

    def observe(self, step: TrainStep) -> None:
        self.steps += 1

    def obstacles(self, weighting: Weighting) -> Sequence[Obstacle]:
        return [] if self.is_soft else [TIES]


def wrong(logits: Tensor, believed: Tensor) -> Tensor:
    """-log(1 - believed . softmax(logits)), (U, C) each -> (U,); a sum of logarithms, which is exact near 1, too."""
    others = (1 - believed).clamp(min=0).log()
    return -(logits.log_softmax(dim=1) + others).logsumexp(dim=1)
