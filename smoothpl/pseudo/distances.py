"""Distance: how far the predictions of a view are from what they are taught."""

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor
from torch.nn.functional import cross_entropy

from smoothpl.pseudo.labels import one_hot, probabilities


class Distance(Protocol):
    """Between the logits of a view and its target."""

    def __call__(self, logits: Tensor, target: Tensor) -> Tensor:
        """logits (U, C), target (U,) classes or (U, C) probabilities, detached -> (U,)."""


@dataclass(frozen=True)
class CrossEntropy:
    """The paper's."""

    def __call__(self, logits: Tensor, target: Tensor) -> Tensor:
        return cross_entropy(logits.float(), target, reduction="none")


@dataclass(frozen=True)
class Squared:
    """The squared difference of probabilities, its mean over the classes (Pi-Model, Mean Teacher, MixMatch)."""

    def __call__(self, logits: Tensor, target: Tensor) -> Tensor:
        predicted = probabilities(logits)
        wanted = target if target.ndim == 2 else one_hot(target, predicted.shape[1])
        return (predicted - wanted).square().mean(dim=1)


@dataclass(frozen=True)
class KullbackLeibler:
    """KL(target || predictions): cross-entropy less the entropy of the target, which has no gradient."""

    def __call__(self, logits: Tensor, target: Tensor) -> Tensor:
        if target.ndim == 1:
            return cross_entropy(logits.float(), target, reduction="none")
        known = target.clamp(min=1e-30)
        return (target * (known.log() - logits.float().log_softmax(dim=1))).sum(dim=1)


@dataclass(frozen=True)
class Alpha:
    """The alpha divergence, of which KL(target || predictions) is the limit at alpha = 1 (AlphaMatch)."""

    alpha: float = 1.5

    def __post_init__(self) -> None:
        if self.alpha <= 0 or self.alpha == 1:
            raise ValueError(f"distance.alpha={self.alpha} must be positive and not 1; for 1 use distance=kl.")

    def __call__(self, logits: Tensor, target: Tensor) -> Tensor:
        wanted = target if target.ndim == 2 else one_hot(target, logits.shape[1])
        predicted = logits.float().log_softmax(dim=1)
        terms = wanted * ((wanted.clamp(min=1e-30).log() - predicted) * (self.alpha - 1)).exp()
        return (terms.sum(dim=1) - 1) / (self.alpha * (self.alpha - 1))
