"""Steps of random beliefs, for tests that follow the memory of a method."""

from collections.abc import Iterator

import torch

from smoothpl.pseudo import Beliefs, probabilities, pseudo_labels

CLASSES = 10
IMAGES = 100


def random_steps(count: int, size: int = 32, sharpness: float = 4.0) -> Iterator[Beliefs]:
    """Some images are believed in firmly, some hardly; some come twice in a step."""
    chance = torch.Generator().manual_seed(7)
    for _ in range(count):
        logits = sharpness * torch.randn(size, CLASSES, generator=chance)
        image = torch.randint(IMAGES, (size,), generator=chance)
        labeled = probabilities(torch.randn(8, CLASSES, generator=chance))
        yield Beliefs(pseudo_labels(logits, image), labeled, torch.randint(CLASSES, (8,), generator=chance))
