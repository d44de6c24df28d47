"""Threshold: Dash's, on the loss of a pseudo-label instead of its confidence, lowered step by step."""

from typing import final

import torch
from torch import Tensor

from smoothpl.pseudo.labels import Beliefs, PseudoLabels, one_hot
from smoothpl.pseudo.policies import ThresholdPolicy
from smoothpl.pseudo.targets import sharpen

COLD = 0.01
"""The lowest temperature: labels that have any weight are then hard, as far as floats can tell."""


@final
class LossSchedule(ThresholdPolicy):
    """Trusts images whose loss is at most rho = C gamma^-k rho_0, never less than `rho_min`; k grows with time.

    rho_0 is the loss of the labeled images of the first step (one codebase takes the test set's, a leak). Until rho has
    reached its minimum the pseudo-label is soft, sharpened by `temperature`; then it is hard. A loss l is a score
    exp(-l): for a hard label that is its confidence. With `schedule="continuous"` k grows by a little in every step,
    and the temperature goes down to 0 with rho, so that soft labels become hard gradually.

    For `warm_up_steps` only labels teach; the first step is then the one after them, for rho_0 and for k. Without a
    warm-up rho_0 is the loss of an untrained network, which every image is below.
    """

    def __init__(
        self,
        refresh_every: int,
        schedule: str = "stepwise",
        growth: float = 1.0001,
        gamma: float = 1.27,
        rho_min: float = 0.05,
        temperature: float = 0.5,
        warm_up_steps: int = 0,
    ) -> None:
        super().__init__()
        if schedule not in ("stepwise", "continuous"):
            raise ValueError(f"policy.schedule={schedule} must be stepwise (Dash) or continuous.")
        if type(warm_up_steps) is not int or warm_up_steps < 0:
            raise ValueError(f"policy.warm_up_steps={warm_up_steps} must be a whole number of steps; 0 for none.")
        self.continuous = schedule == "continuous"
        if not self.continuous:
            self.jumps = (
                "policy.schedule=stepwise lowers its threshold in steps, and makes soft labels hard at once: "
                "use policy.schedule=continuous"
            )
        self.refresh_every = refresh_every
        self.growth, self.gamma, self.rho_min = growth, gamma, rho_min
        self.temperature = temperature
        self.warm_up_steps = warm_up_steps
        self.start: Tensor
        self.steps: Tensor
        self.register_buffer("start", torch.zeros(()))
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))

    def see(self, beliefs: Beliefs) -> None:
        of_label = beliefs.labeled.gather(1, beliefs.label.unsqueeze(1)).clamp(min=1e-12)
        self.start.copy_(torch.where(self.steps == self.warm_up_steps, -of_label.log().mean(), self.start))
        self.steps += 1

    @property
    def waits(self) -> Tensor | None:
        return self.steps <= self.warm_up_steps if self.warm_up_steps else None

    @property
    def rho(self) -> Tensor:
        rounding = None if self.continuous else "floor"
        since_start = (self.steps - 1 - self.warm_up_steps).clamp(min=0)
        refreshed = torch.div(since_start, self.refresh_every, rounding_mode=rounding)
        return (self.growth * self.gamma**-refreshed * self.start).clamp(min=self.rho_min)

    @property
    def hard(self) -> Tensor:
        return self.rho <= self.rho_min

    @property
    def temperature_now(self) -> float | Tensor:
        if not self.continuous:
            return self.temperature
        whole_way = torch.log(self.growth * self.start / self.rho_min).clamp(min=COLD)
        left = torch.log(self.rho / self.rho_min) / whole_way
        return self.temperature * left.clamp(COLD, 1)

    def taught(self, pseudo: PseudoLabels) -> PseudoLabels:
        """With the probabilities that are taught, and the score of that lesson."""
        soft = sharpen(pseudo.probabilities, self.temperature_now)
        certain = one_hot(pseudo.label, pseudo.probabilities.shape[1])
        loss = -(soft * pseudo.probabilities.clamp(min=1e-12).log()).sum(dim=1)
        return pseudo._replace(
            probabilities=torch.where(self.hard, certain, soft),
            confidence=torch.where(self.hard, pseudo.confidence, torch.exp(-loss)),
        )

    def forward(self, pseudo: PseudoLabels) -> Tensor:
        return torch.exp(-self.rho).expand_as(pseudo.confidence)
