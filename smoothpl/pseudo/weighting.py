"""Threshold x shape: the weight of every pseudo-label of a step."""

from torch import Tensor, nn

from smoothpl.pseudo.labels import PseudoLabels
from smoothpl.pseudo.policies import ThresholdPolicy
from smoothpl.pseudo.shapes import Shape


class Weighting(nn.Module):
    """A policy and a shape: all that the training loop knows of a method."""

    def __init__(self, policy: ThresholdPolicy, shape: Shape) -> None:
        super().__init__()
        self.policy = policy
        self.shape = shape

    def forward(self, pseudo: PseudoLabels) -> Tensor:
        """-> weight (U,) in [0, 1]."""
        return self.shape(pseudo.confidence, self.policy(pseudo))

    def observe(self, pseudo: PseudoLabels) -> None:
        self.policy.observe(pseudo)
