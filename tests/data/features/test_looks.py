import numpy as np
import pytest
import torch

from smoothpl.data import FlipCrop, ImageSet, RandomResizedCrop
from smoothpl.data.features.contents import contents_of
from smoothpl.data.features.looks import Look, pixels_of
from smoothpl.data.randomness import Stream

IMAGES = ImageSet(
    torch.randint(256, (40, 3, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)),
    torch.zeros(40, dtype=torch.long),
)
CONTENTS = contents_of(IMAGES, None)
PLAIN = Look("plain", 0, None, None, None)


def weak(number: int) -> Look:
    return Look("weak", number, FlipCrop(padding=3), None, Stream.STORED_WEAK)


def shown(look: Look, *which: int) -> torch.Tensor:
    (pixels,) = pixels_of(IMAGES, torch.tensor(which), CONTENTS[list(which)], [look])
    return pixels


def test_the_plain_look_is_the_image() -> None:
    assert shown(PLAIN, 3, 1).equal(IMAGES.images[[3, 1]])


def test_a_look_depends_on_the_image_and_its_number_and_on_nothing_else() -> None:
    """Not on the batch it is made in, nor on the place of the image in its set."""
    together = shown(weak(1), *range(40))
    assert shown(weak(1), 7, 30).equal(together[[7, 30]])
    again, _ = pixels_of(IMAGES, torch.tensor([7]), CONTENTS[[7]], [weak(1), weak(2)])
    assert again[0].equal(together[7])


def test_looks_of_other_numbers_and_images_differ() -> None:
    first, second = (shown(weak(number), *range(40)) for number in (1, 2))
    assert (first != second).flatten(1).any(dim=1).float().mean() > 0.8
    drawn = torch.cat([weak(1).draws(CONTENTS)[1], weak(2).draws(CONTENTS)[1]])
    assert len(np.unique(drawn.numpy().round(6), axis=0)) == 80
    assert 0.4 < drawn.mean() < 0.6


class Many:
    """Pictures of many sizes, as far as a frame asks for them."""

    same_size = False
    labels = IMAGES.labels

    def __init__(self) -> None:
        self.reads = 0

    def __len__(self) -> int:
        return len(self.labels)

    def read(self, index: torch.Tensor, frame: RandomResizedCrop, draws: list[torch.Tensor]) -> list[torch.Tensor]:
        self.reads += 1
        return [
            torch.stack([frame(IMAGES.images[i], row) for i, row in zip(index, each, strict=True)]) for each in draws
        ]


@pytest.mark.parametrize("numbers", [[1], [1, 2, 3]])
def test_pictures_are_opened_once_for_all_looks_of_a_frame(numbers: list[int]) -> None:
    frame, pictures = RandomResizedCrop(6), Many()
    looks = [Look("strong", number, FlipCrop(padding=1), frame, Stream.STORED_STRONG) for number in numbers]
    found = pixels_of(pictures, torch.arange(4), CONTENTS[:4], looks)  # type: ignore[arg-type]
    assert [each.shape for each in found] == [(4, 3, 6, 6)] * len(numbers)
    assert pictures.reads == 1
