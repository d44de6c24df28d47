"""Between tensors and Pillow's images."""

import torch
from PIL import Image
from torch import Tensor

from benchmarks.pillow_views import OPERATIONS


def pillow(image: Tensor) -> Image.Image:
    return Image.fromarray(image.permute(1, 2, 0).squeeze(2).numpy())


def from_pillow(picture: Image.Image, channels: int) -> Tensor:
    flat = torch.frombuffer(bytearray(picture.tobytes()), dtype=torch.uint8)
    return flat.view(picture.height, picture.width, channels).permute(2, 0, 1)


def by_pillow(name: str, images: Tensor, value: Tensor) -> Tensor:
    pairs = zip(images, value.tolist(), strict=True)
    return torch.stack([from_pillow(OPERATIONS[name](pillow(image), v), images.shape[1]) for image, v in pairs])
