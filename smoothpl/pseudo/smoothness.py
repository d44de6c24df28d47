"""Is the loss continuously differentiable? Every reason why a composition is not, with the way out."""

import torch
from torch import Tensor

from smoothpl.pseudo.fairness import Fairness
from smoothpl.pseudo.shapes import AnyShape, Gaussian
from smoothpl.pseudo.targets import Hard, Target
from smoothpl.pseudo.weighting import Weighting

PROBE = 0.95
FINE = 1e-6
JUMP = 0.1  # a continuous shape does not rise by this between neighbouring floats; even the fourth root does not


def obstacles(weighting: Weighting, target: Target, fairness: Fairness | None = None) -> list[str]:
    """Empty if the loss is C1 in the network's parameters; the state of a policy counts as a constant within a step.

    Where two classes tie, which is at confidence 1/2 or less, a hard target jumps, and so does a threshold by class:
    there the weight must be 0.
    """
    shape, policy, alignment = weighting.shape, weighting.policy, weighting.alignment
    hard = isinstance(target, Hard) or fairness is not None  # which counts dominant classes, and these jump at ties
    lowest = max(weighting.floor, policy.lowest)
    found = []
    if jumps(shape):
        found.append("the shape jumps at the threshold: use shape=linear")
    if hard and isinstance(shape, Gaussian):
        found.append("shape=gaussian keeps weight where two classes tie and a hard target jumps: use target=soft")
    if hard and not alignment.teaches:
        found.append("weights are aligned and hard targets are not, they tie elsewhere: use align.teaches=true")
    if (
        (hard or policy.by_class)
        and not isinstance(shape, Gaussian)
        and weighting.score == "confidence"
        and lowest < 0.5
    ):
        what = "a hard target" if hard else "a threshold by class"
        way_out = "threshold_floor=0.5 or score=margin" + ("" if policy.by_class else " or target=soft")
        found.append(f"thresholds go down to {lowest:.3g}, below 1/2, where {what} jumps at ties: use {way_out}")
    if policy.jumps:
        found.append(policy.jumps)
    if fairness is not None and not fairness.soft:
        found.append("fairness.counts=hard counts predictions: use fairness.counts=soft")
    return found


def jumps(shape: AnyShape) -> bool:
    """Whether a shape jumps at a threshold: it is tried, so that a shape of one's own is judged, too."""
    if isinstance(shape, Gaussian):
        return False
    around: Tensor = PROBE + FINE * torch.linspace(-1, 1, 2001, dtype=torch.float64)
    return bool(shape(around, torch.full_like(around, PROBE)).diff().abs().max() > JUMP)
