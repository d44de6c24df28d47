"""Heads that methods put on the features of a network."""

from torch import Tensor, nn
from torch.nn.functional import normalize


class Projection(nn.Module):
    """Two layers, and unit length: where images are compared with each other (CoMatch, SimMatch, CCSSL)."""

    def __init__(self, dim: int, num_classes: int, width: int = 64) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, width))

    def forward(self, features: Tensor) -> Tensor:
        return normalize(self.layers(features.float()), dim=1)


class Classifier(nn.Linear):
    """A second classifier beside that of the network, or one of other classes: the quarter turns of an image."""

    def __init__(self, dim: int, num_classes: int, classes: int | None = None) -> None:
        super().__init__(dim, num_classes if classes is None else classes)
        initialise(self)


def initialise(head: nn.Module) -> None:
    """As the classifier of a WideResNet begins."""
    for part in head.modules():
        if isinstance(part, nn.Linear):
            nn.init.xavier_normal_(part.weight)
            nn.init.zeros_(part.bias)


class TwoLayers(nn.Sequential):
    """A classifier with a hidden layer as wide as the features."""

    def __init__(self, dim: int, num_classes: int, classes: int | None = None) -> None:
        super().__init__(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, num_classes if classes is None else classes))


class OfMap(nn.Linear):
    """Sees the last map of the network with all its places, or the features where there is none (CRMatch)."""

    sees_map = True

    def __init__(self, dim: int, num_classes: int, width: int) -> None:
        super().__init__(dim, width)
