"""A classifier that does everything itself, for programs that know nothing of smoothpl: bytes of any image in."""

import torch
from torch import Tensor, nn

from smoothpl.classifier import Classifier, shade


class Portable(nn.Module):
    """Cuts out the middle of an image, resizes it with antialiasing, and asks the classifier.

    A cut whose place depends on the size of an image cannot be written down in every format, and antialiasing not
    either. But both are linear, for rows and columns apart: two matrices, made by operations that all formats have.
    """

    def __init__(self, classifier: Classifier) -> None:
        super().__init__()
        self.classifier = classifier
        self.size = classifier.prepare.frame.size
        self.share = classifier.prepare.frame.share
        self.is_grey = classifier.prepare.channels == 1
        self.middles: Tensor  # of the pixels that the network sees, in pixels
        self.register_buffer("middles", torch.arange(self.size).unsqueeze(1) + 0.5)
        self.eval()

    def forward(self, pixels: Tensor) -> Tensor:
        """pixels (B, 3, height, width) uint8, all of one size -> probabilities (B, C)."""
        # Counted, and not torch.arange, which would be bound to the device that it is written down on.
        rows, columns = (torch.ones_like(line, dtype=torch.float32).cumsum(0) - 1 for line in corner(pixels))
        shorter = torch.minimum(rows[-1], columns[-1]) + 1
        side = (self.share * shorter.double()).round().clamp(min=1).float()
        # Rounded after columns and after rows, as torch does it with bytes.
        wide = rounded(pixels.float() @ self.resizing(columns, side).T)
        small = rounded(self.resizing(rows, side) @ wide)
        probabilities: Tensor = self.classifier(shade(small) if self.is_grey else small)
        return probabilities

    def resizing(self, places: Tensor, side: Tensor) -> Tensor:
        """places (N,) = 0, 1, ..., N - 1 -> (size, N): how much every pixel has of every one of `size`."""
        first = ((places[-1] + 1 - side) / 2).floor()
        scale = side / self.size
        middle = first + self.middles * scale
        tent = (1 - (places + 0.5 - middle).abs() / scale.clamp(min=1)).clamp(min=0)
        inside = (places >= first) & (places < first + side)
        weights = tent * inside
        return weights / weights.sum(dim=1, keepdim=True)


def corner(pixels: Tensor) -> tuple[Tensor, Tensor]:
    """The first column and the first row of an image: as long as it is high, and as it is wide."""
    return pixels[0, 0, :, 0], pixels[0, 0, 0, :]


def rounded(values: Tensor) -> Tensor:
    return (values + 0.5).floor().clamp(0, 255)
