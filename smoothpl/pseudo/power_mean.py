"""A power mean of what the weak and the strong views show: what is nearest to all of them by the alpha divergence."""

from collections.abc import Sequence
from typing import final

import torch
from torch import Tensor

from smoothpl.errors import ConfigError
from smoothpl.pseudo.labels import probabilities as probabilities_of
from smoothpl.pseudo.refinement import Outputs, Refinement

SMALLEST = 1e-30


@final
class PowerMean(Refinement):
    """gamma ~ (share p_weak^(1 - alpha) + (1 - share) mean_n p_strong,n^(1 - alpha))^(1 / (1 - alpha)), detached.

    At alpha = 1 it is the geometric mean, at 0 the arithmetic one; the larger, the nearer to the least that any view
    believes. It is AlphaMatch's; that method's constants are not public in full.
    """

    def __init__(self, alpha: float = 1.5, share: float = 0.5, views: Sequence[str] = ("strong",)) -> None:
        super().__init__()
        if not 0 <= share <= 1 or not alpha >= 0:
            raise ConfigError(
                f"refine.power_mean: share={share} must lie in [0, 1], alpha={alpha} must be a number from 0 up."
            )
        if not views:
            raise ConfigError("refine.power_mean.views=[] must name at least one view, for example [strong].")
        self.alpha, self.share, self.views = alpha, share, tuple(views)
        self.needs = frozenset(views) - {"strong"}

    def refine(self, probabilities: Tensor, outputs: Outputs | None, image: Tensor | None) -> Tensor:
        """Without outputs, and for images that are not those of the views, what is believed stays as it is."""
        if outputs is None or self.share == 1:
            return probabilities
        strong = torch.stack([probabilities_of(outputs[view].logits.detach()) for view in self.views])
        logs = torch.cat([probabilities.unsqueeze(0), strong]).clamp(min=SMALLEST).log()
        shares = logs.new_full((len(logs), 1, 1), (1 - self.share) / len(strong))
        shares[:1] = self.share
        if self.alpha == 1:
            return (shares * logs).sum(dim=0).softmax(dim=1)
        power = 1 - self.alpha
        return ((shares.log() + power * logs).logsumexp(dim=0) / power).softmax(dim=1)
