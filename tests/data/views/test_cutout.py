from typing import Any

import pytest
import torch

from benchmarks import pillow_views
from smoothpl.data import Cutout, RandomCutout, View
from tests.support.pillow import from_pillow, pillow


def test_a_random_cutout_is_the_papers_codebases_to_the_pixel() -> None:
    images = torch.randint(256, (3000, 3, 32, 32), dtype=torch.uint8)
    draws = torch.rand(3000, 3)
    draws[:3] = torch.tensor([[0.0, 0.5, 0.5], [0.99999, 0.0, 0.0], [0.99999, 0.99999, 0.99999]])
    expected = [
        from_pillow(pillow_views.cutout(pillow(image), numbers), 3)
        for image, numbers in zip(images, draws.double().tolist(), strict=True)
    ]
    view = RandomCutout()
    assert torch.equal(view(images, view.plan(draws, images.shape)), torch.stack(expected))


def test_a_cutout_of_one_side_is_centred_anywhere_and_cut_at_the_border() -> None:
    images = torch.randint(256, (500, 3, 32, 20), dtype=torch.uint8)
    draws = torch.rand(500, 2)
    view = Cutout(side=16)
    seen = view(images, view.plan(draws, images.shape))
    for image, result, (x, y) in zip(images, seen, draws.double().tolist(), strict=True):
        expected, column, row = image.clone(), int(20 * x), int(32 * y)
        expected[:, max(0, row - 8) : row + 8, max(0, column - 8) : column + 8] = 128
        assert torch.equal(result, expected)


@pytest.mark.parametrize("view", [Cutout(colour=(125, 123, 114)), RandomCutout()], ids=str)
def test_on_grey_images_the_colour_is_as_bright_as_it_looks(view: View) -> None:
    images = torch.zeros(64, 1, 28, 28, dtype=torch.uint8)
    seen = view(images, view.plan(torch.rand(64, view.num_draws), images.shape))
    assert set(seen.flatten().tolist()) == {0, round(0.299 * 125 + 0.587 * 123 + 0.114 * 114)}


@pytest.mark.parametrize("view", [Cutout(side=0), RandomCutout(largest=0.0)], ids=str)
def test_no_cutout_hides_nothing(view: View) -> None:
    images = torch.randint(256, (64, 3, 9, 9), dtype=torch.uint8)
    assert torch.equal(view(images, view.plan(torch.rand(64, view.num_draws), images.shape)), images)


@pytest.mark.parametrize(
    ("kind", "setting"),
    [
        (Cutout, {"side": -1}),
        (Cutout, {"side": 15}),
        (RandomCutout, {"largest": 1.5}),
        (Cutout, {"colour": [1, 2]}),
        (RandomCutout, {"colour": [0, 0, 256]}),
    ],
)
def test_sizes_that_make_no_sense_are_refused(kind: Any, setting: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"of a cutout \(views\) must"):
        kind(**setting)
