"""Virtual adversarial training: an image that was moved where predictions change most should be predicted as before."""

import torch
from torch import Tensor, nn

from smoothpl.errors import ConfigError
from smoothpl.nets.forwards import together
from smoothpl.nets.several import each_head, for_each_head
from smoothpl.nets.statistics import resting_statistics
from smoothpl.pseudo.distances import KullbackLeibler
from smoothpl.pseudo.labels import probabilities
from smoothpl.pseudo.obstacles import Obstacle
from smoothpl.pseudo.ramps import Ramp
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.pseudo.weighting import Weighting
from smoothpl.terms.term import Term

VIEW = "weak"
SOFTER = "terms.adversarial.softening=1e-12"


class Adversarial(Term):
    """KL(sg p(x) || p(x + r)), r of length `radius` in the direction g, found by one step of a power iteration.

    g is the gradient of that KL at x + `xi` d, d a random unit vector that the loader has drawn, over xi, so that its
    length does not depend on xi. r = radius g / sqrt(|g|^2 + softening): without the softening it jumps at g = 0.
    """

    needs = frozenset({"noise"})

    def __init__(
        self,
        radius: float = 6.0,
        xi: float = 1e-6,
        softening: float = 1e-12,
        weight: float = 1.0,
        ramp: Ramp | None = None,
    ) -> None:
        super().__init__(weight, ramp)
        if not radius > 0 or not xi > 0 or softening < 0:
            raise ConfigError(
                f"terms.adversarial: radius={radius} and xi={xi} must be positive, softening={softening} not negative."
            )
        self.radius, self.xi, self.softening = radius, xi, softening
        self.distance = KullbackLeibler()

    def forward(self, step: TrainStep) -> Tensor:
        images = step.batch.weak.float()  # stored features have 16 bits
        target = probabilities(each_head(step.outputs[VIEW].logits).detach())
        with resting_statistics(step.network):
            direction = self.direction(step.network, images, step.batch.chance["noise"], target)
            logits = logits_of(step.network, images + self.radius * direction)
        return (for_each_head(step.weight, logits) * self.distance(each_head(logits), target)).mean()

    def direction(self, network: nn.Module, images: Tensor, noise: Tensor, target: Tensor) -> Tensor:
        """-> of unit length for each image, or shorter where g all but vanishes; detached."""
        device = images.device.type
        is_coarse = torch.is_autocast_enabled(device)
        # In bfloat16 a step of xi would not move the images at all.
        with torch.autocast(device, enabled=False), torch.enable_grad():
            if is_coarse:
                target = probabilities(each_head(logits_of(network, images)).detach())
            small = (self.xi * unit(noise, 0.0)).requires_grad_()
            distance = self.distance(each_head(logits_of(network, images + small)), target).sum()
            (slope,) = torch.autograd.grad(distance, small)
        return unit(slope / self.xi, self.softening)

    def obstacles(self, weighting: Weighting) -> list[Obstacle]:
        if self.softening > 0:
            return []
        return [Obstacle("the direction of an adversarial step jumps where its gradient vanishes", SOFTER, (SOFTER,))]


def logits_of(network: nn.Module, images: Tensor) -> Tensor:
    """Of the classifier that learns, also where a method has heads of its own."""
    return together(network, {VIEW: images})[VIEW].logits


def unit(vectors: Tensor, softening: float) -> Tensor:
    """(U, ...) -> each image by itself divided by its length."""
    squared = vectors.flatten(1).square().sum(dim=1) + softening
    length = squared.clamp(min=torch.finfo(vectors.dtype).tiny).sqrt()
    return vectors / length.view(-1, *(1,) * (vectors.ndim - 1))
