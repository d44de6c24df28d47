"""Loss: the terms of the paper as pure functions."""

import torch
from torch import Tensor
from torch.nn import functional


def labeled_loss(logits: Tensor, label: Tensor, weight: Tensor | None = None) -> Tensor:
    """E over L of CE(f(x), GT(x)): logits (B, C), label (B,) -> scalar; with weight (B,) if images are held back."""
    if weight is None:
        return functional.cross_entropy(logits.float(), label)
    return (weight * functional.cross_entropy(logits.float(), label, reduction="none")).mean()


def both(one: Tensor | None, other: Tensor | None) -> Tensor | None:
    """Weights (B,) of labeled images for two reasons; None if all weigh 1."""
    if one is None or other is None:
        return other if one is None else one
    return one * other


def unlabeled_loss(logits: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    """E over U of weight * CE(f(x), target): logits (U, C), target (U,) or (U, C), weight (U,) -> scalar.

    The mean is over all images, also those of weight 0 (paper, Eq. of L_SFM). One function for the whole family:
    with the weak view's logits it is L_PL or L_SPL, with the strong view's L_FM or L_SFM; the shape tells which.
    """
    return (weight * functional.cross_entropy(logits.float(), target, reduction="none")).mean()


def factor_loss(weight: Tensor) -> Tensor:
    """L_Phi without its lambda: E over U of -sg(Phi) Phi, weight (U,) still attached to the weak view -> scalar."""
    return -(weight.detach() * weight).mean()


def smooth_pseudo_label_potential(confidence: Tensor, threshold: float) -> Tensor:
    """SPL~(sigma; tau): the function whose derivative is that of Phi(sg(sigma)) log(sigma), Phi linear (Sec. 3.4)."""
    tau = confidence.new_tensor(threshold)
    sigma = torch.maximum(confidence, tau)
    return (1 - sigma + tau * torch.log(sigma)) / (tau - 1)
