import math
from typing import Any

import pytest
import torch

from smoothpl.data import Distort, Shift, View, digits
from smoothpl.data.views.drawings import squares
from tests.support.composing import build
from tests.support.images import in_memory

IMAGES = in_memory(digits().train).images[:32]
NEUTRAL = 0.5  # the middle of every range


def views_of(option: str) -> list[View]:
    bundle = build("views", option)
    return [bundle.weak, bundle.strong]


@pytest.mark.parametrize("view", [*views_of("digits"), Shift(0.25), Distort(cutout=0.9)], ids=str)
def test_pixels_stay_between_0_and_1(view: View) -> None:
    pixels = view(IMAGES, torch.rand(32, view.num_draws))
    assert pixels.dtype == torch.float32
    assert pixels.shape == IMAGES.shape
    assert pixels.min() >= 0
    assert pixels.max() <= 1


def test_a_shift_by_whole_pixels_moves_rows_and_columns() -> None:
    draws = torch.tensor([1.0, 0.5]).expand(32, 2)  # reads one of 8 pixels further right
    moved = Shift(fraction=1 / 8)(IMAGES, draws)
    expected = torch.zeros_like(moved)
    expected[..., :-1] = IMAGES[..., 1:] / 255
    torch.testing.assert_close(moved, expected, atol=1e-5, rtol=0)


def test_neutral_draws_leave_an_image_as_it_is_but_for_the_cutout() -> None:
    draws = torch.full((32, 9), NEUTRAL)
    torch.testing.assert_close(Distort(cutout=0)(IMAGES, draws), IMAGES / 255, atol=1e-5, rtol=0)
    torch.testing.assert_close(Shift(0.3)(IMAGES, draws[:, :2]), IMAGES / 255, atol=1e-5, rtol=0)


def test_a_quarter_turn_turns_the_image() -> None:
    draws = torch.full((32, 9), NEUTRAL)
    draws[:, 0] = 1.0
    turned = Distort(rotation=90, cutout=0)(IMAGES, draws)
    torch.testing.assert_close(turned, (IMAGES / 255).rot90(1, dims=(2, 3)), atol=1e-4, rtol=0)


def test_contrast_scales_the_ink_and_never_beyond_black() -> None:
    draws = torch.full((32, 9), NEUTRAL)
    draws[:, 5] = 1.0
    stronger = Distort(contrast=0.5, cutout=0)(IMAGES, draws)
    torch.testing.assert_close(stronger, (IMAGES / 255 * 1.5).clamp(max=1), atol=1e-5, rtol=0)


def test_cutouts_are_squares_of_the_drawn_side_and_centre() -> None:
    draws = torch.rand(64, 3)
    mask = squares(draws, torch.Size([9, 7]), largest=0.5)
    for image, (side, y, x) in enumerate(draws.tolist()):
        for row in range(9):
            for column in range(7):
                half = side * 0.5 * 9 / 2
                inside = abs(row + 0.5 - 9 * y) < half and abs(column + 0.5 - 7 * x) < half
                assert mask[image, 0, row, column].item() is inside


@pytest.mark.parametrize(
    ("view", "setting"), [(Shift, {"fraction": -0.1}), (Distort, {"cutout": "abc"}), (Distort, {"shear": math.nan})]
)
def test_settings_must_be_numbers_from_0_up(view: type[View], setting: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\(views\) must be a number from 0 up"):
        view(**setting)
