import pytest
import torch
from torchvision.transforms.v2 import functional

from smoothpl.data import FlipCrop
from smoothpl.errors import ConfigError


def test_every_place_and_both_sides_are_torchvisions() -> None:
    image = torch.randint(256, (3, 32, 32), dtype=torch.uint8)
    cases = [(mirrored, top, left) for mirrored in (0, 1) for top in range(9) for left in range(9)]
    draws = torch.tensor(
        [[0.2 if mirrored else 0.7, (top + 0.5) / 9, (left + 0.5) / 9] for mirrored, top, left in cases]
    )
    view = FlipCrop(padding=4)
    images = image.expand(len(cases), 3, 32, 32)
    seen = view(images, view.plan(draws, images.shape))
    for (mirrored, top, left), result in zip(cases, seen, strict=True):
        start = functional.hflip(image) if mirrored else image
        padded = functional.pad(start, [4], padding_mode="reflect")
        assert torch.equal(result, padded[:, top : top + 32, left : left + 32])


def test_the_extreme_draws_stay_inside() -> None:
    view = FlipCrop(padding=4)
    last = 1 - 2**-24  # the largest number below 1 that is drawn
    assert view.plan(torch.tensor([[0.0, 0.0, 0.0], [last, last, last]]), torch.Size([2, 3, 32, 32])).tolist() == [
        [1, -4, -4],
        [0, 4, 4],
    ]


def test_half_of_the_images_are_mirrored_and_places_are_uniform() -> None:
    plan = FlipCrop(padding=4).plan(torch.rand(90_000, 3), torch.Size([90_000, 3, 32, 32]))
    assert plan[:, 0].double().mean() == pytest.approx(0.5, abs=0.01)
    assert (plan[:, 1] + 4).bincount().double().div(90_000).tolist() == pytest.approx([1 / 9] * 9, abs=0.01)


def test_without_padding_and_flip_nothing_happens() -> None:
    images = torch.randint(256, (9, 1, 5, 7), dtype=torch.uint8)
    view = FlipCrop(padding=0, flip=0.0)
    assert torch.equal(view(images, view.plan(torch.rand(9, 3), images.shape)), images)


def test_images_need_not_be_square() -> None:
    image = torch.arange(12, dtype=torch.uint8).view(1, 1, 3, 4)
    view = FlipCrop(padding=1, flip=0.0)
    seen = view(image, view.plan(torch.tensor([[0.5, 0.99, 0.0]]), image.shape))  # one down, one to the left
    assert seen.flatten().tolist() == [5, 4, 5, 6, 9, 8, 9, 10, 5, 4, 5, 6]


@pytest.mark.parametrize(("setting", "name"), [({"padding": -1}, "padding=-1"), ({"flip": 2.0}, "flip=2.0")])
def test_settings_that_make_no_sense_are_refused(setting: dict[str, float], name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name} \(views\) must"):
        FlipCrop(**setting)  # type: ignore[arg-type]


def test_a_reflection_needs_an_image_larger_than_the_padding() -> None:
    with pytest.raises(ConfigError, match=r"padding=4 .* smaller than the image, 4 pixels"):
        FlipCrop(padding=4).plan(torch.rand(1, 3), torch.Size([1, 3, 4, 8]))
