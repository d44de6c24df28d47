"""A classifier with its preprocessing inside, for export: bytes of any image in, probabilities out."""

import torch
from torch import Tensor, nn

from smoothpl.inference.classifier import Classifier
from smoothpl.inference.preprocessing import shade
from smoothpl.inference.resizing import middles, resized, resizing


class Portable(nn.Module):
    """Crops the middle of an image, resizes it with antialiasing, and classifies it."""

    def __init__(self, classifier: Classifier) -> None:
        super().__init__()
        self.classifier = classifier
        self.share = classifier.prepare.frame.share
        self.is_grey = classifier.prepare.channels == 1
        self.middles: Tensor
        self.register_buffer("middles", middles(classifier.prepare.frame.size))
        self.eval()

    def forward(self, pixels: Tensor) -> Tensor:
        """pixels (B, 3, height, width) uint8, all of one size -> probabilities (B, C)."""
        # By counting: torch.arange would be bound to the device at the time of the export.
        rows, columns = (torch.ones_like(line, dtype=torch.float64).cumsum(0) - 1 for line in corner(pixels))
        shorter = torch.minimum(rows[-1], columns[-1]) + 1
        side = (self.share * shorter).round().clamp(min=1)
        small = resized(pixels.float(), self.resizing(rows, side), self.resizing(columns, side))
        probabilities: Tensor = self.classifier(shade(small) if self.is_grey else small)
        return probabilities

    def resizing(self, places: Tensor, side: Tensor) -> Tensor:
        return resizing(places, side, self.middles)


def corner(pixels: Tensor) -> tuple[Tensor, Tensor]:
    """The first column and the first row of an image: their lengths are its height and width."""
    return pixels[0, 0, :, 0], pixels[0, 0, 0, :]
