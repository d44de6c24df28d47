"""Ascent: from what was judged to what is learned, by a network that was moved to where it learns labels worst."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.func import functional_call

from smoothpl.errors import ConfigError
from smoothpl.nets.forwards import Forward, Views, look
from smoothpl.nets.output import Output
from smoothpl.nets.statistics import resting_statistics
from smoothpl.pseudo.obstacles import Obstacle
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.pseudo.weighting import Weighting
from smoothpl.ranks import num_ranks, share_mean
from smoothpl.terms.labeled import loss_of_labels

SOFTER = "ascent.softening=1e-12"
Parameters = Mapping[str, Tensor]


@dataclass(frozen=True)
class Ascent:
    """All losses at theta + sg(rho g / sqrt(|g|^2 + softening)), where g is the slope of the labels' loss at theta.

    The gradient at the moved weights is that of theta, where the step is made; g is added to it (FlatMatch). Without
    the softening the way jumps at g = 0.
    """

    rho: float = 0.05
    softening: float = 0.0
    is_hard: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.rho < 0 or self.softening < 0:
            raise ConfigError(
                f"ascent: rho={self.rho} and softening={self.softening} must not be negative; FlatMatch has 0.05 and 0."
            )

    def __call__(
        self, step: TrainStep, labeled: Tensor, held_back: Tensor | None, forward: Forward
    ) -> tuple[TrainStep, Tensor]:
        """`labeled`: the labels' loss at theta, whose graph ends here -> the step with what the moved network makes of
        its views, and the labels' loss at both places."""
        own = {name: each for name, each in step.network.named_parameters() if each.requires_grad}
        slopes = dict(zip(own, slopes_of(labeled, [*own.values()]), strict=True))
        away = self.away(slopes)
        # A sum would choose a layout of its own, and with it other sums within convolutions.
        moved = {name: each.clone().add_(away[name]) for name, each in own.items()}
        outputs = seen_from(moved, step.network, step.batch.all_views, forward)
        there = loss_of_labels(outputs["labeled"].logits, step.batch.label, held_back)
        return step._replace(outputs=outputs), kept(labeled, own, slopes) + there

    def away(self, slopes: Parameters) -> dict[str, Tensor]:
        squared = torch.stack([each.square().sum() for each in slopes.values()]).sum() + self.softening
        scale = self.rho / squared.clamp(min=torch.finfo(squared.dtype).tiny).sqrt()
        return {name: scale * each for name, each in slopes.items()}

    def obstacles(self, weighting: Weighting) -> Sequence[Obstacle]:
        if self.softening > 0 or self.rho == 0:
            return ()
        return [Obstacle("the way to where labels are learned worst jumps where its slope vanishes", SOFTER, (SOFTER,))]


def slopes_of(loss: Tensor, parameters: Sequence[Tensor]) -> list[Tensor]:
    """The gradient of the loss of all ranks, so that all of them move alike; 0 where it does not depend on one."""
    found = torch.autograd.grad(loss, parameters, allow_unused=True, materialize_grads=True)
    if num_ranks() == 1:
        return [*found]
    joined = torch.cat([each.flatten() for each in found])
    share_mean(joined)
    parts = torch.split(joined, [each.numel() for each in found])
    # In the layout of each parameter, in which DDP expects its gradient.
    return [torch.empty_like(each).copy_(part.view(each.shape)) for part, each in zip(parts, found, strict=True)]


def kept(loss: Tensor, parameters: Parameters, slopes: Parameters) -> Tensor:
    """The same loss, with the gradient that is known already: its graph is not needed a second time."""
    along = torch.stack([(slopes[name] * each).sum() for name, each in parameters.items()]).sum()
    return loss.detach() + (along - along.detach())


class Looking(nn.Module):
    """`look`, as a module, whose parameters can be replaced for one call."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, views: Views, forward: Forward) -> dict[str, Output]:
        with resting_statistics(self.network):
            return look(self.network, views, forward)


def seen_from(moved: Parameters, network: nn.Module, views: Views, forward: Forward) -> dict[str, Output]:
    replaced = {f"network.{name}": each for name, each in moved.items()}
    outputs: dict[str, Output] = functional_call(Looking(network), replaced, (views, forward))
    return outputs
