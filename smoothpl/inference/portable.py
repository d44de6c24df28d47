"""A classifier with its preprocessing inside, for export: bytes of any image in, probabilities out."""

import torch
from torch import Tensor, nn

from smoothpl.inference.classifier import Classifier
from smoothpl.inference.preprocessing import shade

ONE = 2.0**16
"""The weights of an output pixel add up to it: 255 times as much is still a whole number in 32 bits."""
HALF = 0.5 + 2**-20
"""A little more, so that a weight between two numbers is rounded up, however it was computed."""


class Portable(nn.Module):
    """Crops the middle of an image, resizes it with antialiasing, and classifies it.

    Not every format can express a crop whose place depends on the size of the image, or antialiasing. But both are
    linear, and separate for rows and columns: two matrices, built from operations that all formats have. Their weights
    are whole numbers, so that every sum is exact in 32 bits, in whatever order another library adds; otherwise pixels
    that lie between two levels, and there are many, would be rounded differently.
    """

    def __init__(self, classifier: Classifier) -> None:
        super().__init__()
        self.classifier = classifier
        self.size = classifier.prepare.frame.size
        self.share = classifier.prepare.frame.share
        self.is_grey = classifier.prepare.channels == 1
        self.middles: Tensor  # of the output pixels, in pixels
        self.register_buffer("middles", torch.arange(self.size, dtype=torch.float64).unsqueeze(1) + 0.5)
        self.eval()

    def forward(self, pixels: Tensor) -> Tensor:
        """pixels (B, 3, height, width) uint8, all of one size -> probabilities (B, C)."""
        # By counting: torch.arange would be bound to the device at the time of the export.
        rows, columns = (torch.ones_like(line, dtype=torch.float64).cumsum(0) - 1 for line in corner(pixels))
        shorter = torch.minimum(rows[-1], columns[-1]) + 1
        side = (self.share * shorter).round().clamp(min=1)
        # Rounded after columns and after rows, as torch does with bytes.
        wide = rounded(pixels.float() @ self.resizing(columns, side).T)
        small = rounded(self.resizing(rows, side) @ wide)
        probabilities: Tensor = self.classifier(shade(small) if self.is_grey else small)
        return probabilities

    def resizing(self, places: Tensor, side: Tensor) -> Tensor:
        """places (N,) = 0, 1, ..., N - 1 -> (size, N): the share of each input pixel in each output pixel, of ONE."""
        first = ((places[-1] + 1 - side) / 2).floor()
        scale = side / self.size
        middle = first + self.middles * scale
        tent = (1 - (places + 0.5 - middle).abs() / scale.clamp(min=1)).clamp(min=0)
        inside = (places >= first) & (places < first + side)
        weights = tent * inside
        return (ONE * weights / weights.sum(dim=1, keepdim=True) + HALF).floor().float()


def corner(pixels: Tensor) -> tuple[Tensor, Tensor]:
    """The first column and the first row of an image: their lengths are its height and width."""
    return pixels[0, 0, :, 0], pixels[0, 0, 0, :]


def rounded(sums: Tensor) -> Tensor:
    return ((sums + ONE / 2) / ONE).floor().clamp(0, 255)
