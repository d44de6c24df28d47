"""Views: the pixel operations of RandAugment, each for a batch of images that drew it, equal to Pillow's to the bit.

Every operation takes images (B, channels, height, width) uint8 with a value (B,) float32 for each, which some ignore,
and returns new images. Where Pillow computes in float32 or float64, so does this, in the same order.
"""

from collections.abc import Callable

import torch
from torch import Tensor


def autocontrast(images: Tensor, _: Tensor) -> Tensor:
    """Stretches every channel to the full range."""
    low, high = images.amin((2, 3), keepdim=True).double(), images.amax((2, 3), keepdim=True).double()
    # A tensor of 255: a plain number would be multiplied by the reciprocal, and be off by a bit.
    scale = torch.where(high > low, torch.full_like(low, 255).div_(high - low), 1)
    offset = torch.where(high > low, -low * scale, 0)
    return whole(images.double().mul_(scale).add_(offset))


def equalize(images: Tensor, _: Tensor) -> Tensor:
    """Spreads the values of every channel so that all are about equally frequent."""
    pixels = images.flatten(2).flatten(0, 1).long()  # (B * channels, height * width)
    histogram = torch.zeros(len(pixels), 256, dtype=torch.int32, device=images.device)
    histogram.scatter_add_(1, pixels, torch.ones_like(pixels, dtype=torch.int32))
    step = (pixels.shape[1] - histogram.gather(1, pixels.amax(1, keepdim=True))) // 255  # without the brightest value
    darker = histogram.cumsum(1, dtype=torch.int32).sub_(histogram)  # whole numbers: deterministic on every device
    table = darker.add_(step // 2).float().div_(step.clamp(min=1)).floor_()  # float: faster, and exact up to 2^24
    unchanged = torch.arange(256, device=images.device)
    return whole(torch.where(step > 0, table, unchanged)).gather(1, pixels).view_as(images)


def posterize(images: Tensor, value: Tensor) -> Tensor:
    """Keeps the `value` highest bits."""
    mask = 256 - 2 ** (8 - value.long())
    return images & mask.to(torch.uint8).view(-1, 1, 1, 1)


def solarize(images: Tensor, value: Tensor) -> Tensor:
    """Inverts what is at least as bright as `value`."""
    # Sign bits, because comparisons are slow: -1, all bits set, where a pixel is darker, and 0 elsewhere.
    darker = images.to(torch.int16).sub_(value.ceil().to(torch.int16).view(-1, 1, 1, 1)) >> 15
    return images ^ darker.bitwise_not_().to(torch.uint8)


def brightness(images: Tensor, value: Tensor) -> Tensor:
    return blend(torch.zeros((), device=images.device), images, value)


def color(images: Tensor, value: Tensor) -> Tensor:
    return blend(luma(images), images, value)


def contrast(images: Tensor, value: Tensor) -> Tensor:
    grey = luma(images)
    size = grey[0].numel()
    total = grey.sum((1, 2, 3), keepdim=True, dtype=torch.float64).long()
    mean = (2 * total + size) // (2 * size)  # rounded in whole numbers, because devices divide differently
    return blend(mean.float(), images, value)


def sharpness(images: Tensor, value: Tensor) -> Tensor:
    """Between the image and a smoothed one, whose border is left as it is."""
    if min(images.shape[-2:]) < 3:
        return images
    pixels = images.float()
    columns = pixels[..., :-2] + pixels[..., 1:-1] + pixels[..., 2:]
    around = columns[..., :-2, :] + columns[..., 1:-1, :] + columns[..., 2:, :]
    # Weights of 1 around and 5 in the middle, over 13. Sums are whole numbers, and no thirteenth is a half: no ties.
    smooth = around.add_(pixels[..., 1:-1, 1:-1], alpha=4).add_(6.5).div_(13).floor_()
    result = images.clone()
    result[..., 1:-1, 1:-1] = blend(smooth, images[..., 1:-1, 1:-1], value)
    return result


def blend(ground: Tensor, images: Tensor, value: Tensor) -> Tensor:
    """ground (float) where value is 0, the image where it is 1, more than the image beyond; cut to whole numbers."""
    pixels = images.float().sub_(ground)  # three steps, not one fused, because Pillow rounds in between
    return whole(pixels.mul_(value.view(-1, 1, 1, 1)).add_(ground))


def whole(pixels: Tensor) -> Tensor:
    """Cut to whole numbers in [0, 255]; by way of int16, which is twice as fast as directly."""
    return pixels.clamp_(0, 255).to(torch.int16).to(torch.uint8)


def luma(images: Tensor) -> Tensor:
    """(B, 1, height, width) float32, whole numbers: how bright a colour looks, in Pillow's 16-bit weights."""
    pixels = images.float()
    if images.shape[1] == 1:
        return pixels
    # Exact: all sums are whole numbers below 2^24.
    weighted = (pixels[:, :1] * 19595).add_(pixels[:, 1:2], alpha=38470).add_(pixels[:, 2:], alpha=7471)
    return weighted.add_(0x8000).mul_(2**-16).floor_()


PIXEL_OPERATIONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    operation.__name__: operation
    for operation in (autocontrast, equalize, posterize, solarize, brightness, color, contrast, sharpness)
}
