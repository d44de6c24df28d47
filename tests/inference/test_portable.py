import pytest
import torch
from torch import Tensor, nn

from smoothpl.data.frames import CentralCrop
from smoothpl.inference.classifier import Classifier
from smoothpl.inference.portable import Portable


class Seen(nn.Module):
    """A network that shows what it sees."""

    def forward(self, images: Tensor) -> Tensor:
        self.images = images
        return images.mean(dim=(2, 3))


def classifier_of(size: int, share: float, channels: int) -> Classifier:
    return Classifier(Seen(), "abc"[:channels], CentralCrop(size, share), [0.0] * channels, [1 / 255] * channels)


def seen_by(classifier: Classifier) -> Tensor:
    assert isinstance(classifier.network, Seen)
    return classifier.network.images


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("share", [1.0, 0.875, 0.01])
@pytest.mark.parametrize(("height", "width"), [(32, 32), (61, 90), (90, 61), (7, 200), (2, 2)])
@pytest.mark.parametrize("size", [5, 32])
def test_an_image_is_cut_and_resized_as_in_training_but_for_rounding(
    size: int, height: int, width: int, share: float, channels: int
) -> None:
    classifier = classifier_of(size, share, channels)
    coarse = torch.randint(256, (2, 3, 4, 4)).float()
    images = nn.functional.interpolate(coarse, (height, width), mode="bilinear").byte()
    Portable(classifier)(images)
    expected = torch.stack([classifier.prepare(image) for image in images]).float()
    difference = (seen_by(classifier) - expected).abs()
    assert difference.max() <= 2
    assert difference.mean() < 0.15


@pytest.mark.parametrize("channels", [1, 3])
def test_an_image_of_the_right_size_is_left_as_it_is(channels: int) -> None:
    classifier = classifier_of(16, 1.0, channels)
    images = torch.randint(256, (3, 3, 16, 16), dtype=torch.uint8)
    Portable(classifier)(images)
    expected = torch.stack([classifier.prepare(image) for image in images]).float()
    assert torch.equal(seen_by(classifier), expected)


@pytest.mark.parametrize("size", [5, 32])
def test_every_sum_is_exact_so_that_its_order_does_not_matter(size: int) -> None:
    """Halves are frequent where an image is made smaller, and another order of sums would round them otherwise."""
    generator = torch.Generator().manual_seed(1)
    for height, width in ((64, 64), (61, 90), (500, 33), (1000, 777)):
        portable = Portable(classifier_of(size, 1.0, 3))
        places = torch.arange(width, dtype=torch.float64)
        weights = portable.resizing(places, torch.tensor(float(min(height, width)), dtype=torch.float64))
        assert torch.equal(weights, weights.round())
        assert (weights.sum(dim=1) - 2**16).abs().max() <= width / 2
        row = torch.randint(256, (width,), generator=generator).float()
        order = torch.randperm(width, generator=generator)
        exact = (weights.long() * row.long()).sum(dim=1)
        assert exact.max() + 2**15 < 2**24
        for sums in (weights @ row, weights[:, order] @ row[order], (weights * row).cumsum(1)[:, -1]):
            assert torch.equal(sums.long(), exact)


def test_a_white_image_stays_white() -> None:
    for side in (33, 640, 4000):
        classifier = classifier_of(32, 1.0, 3)
        Portable(classifier)(torch.full((1, 3, side, side), 255, dtype=torch.uint8))
        assert (seen_by(classifier) == 255).all()
