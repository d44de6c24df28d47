import torch

from smoothpl.data.views.simclr import SimCLR

IMAGES = torch.randint(256, (8, 3, 16, 16), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
VIEW = SimCLR()


def drawn(value: float = 0.5) -> torch.Tensor:
    return torch.full((8, VIEW.num_draws), value)


def test_pixels_stay_within_their_range_and_images_have_chance_of_their_own() -> None:
    plan = torch.rand(8, VIEW.num_draws, generator=torch.Generator().manual_seed(1))
    seen = VIEW(IMAGES, plan)
    assert seen.shape == IMAGES.shape
    assert 0 <= seen.min() <= seen.max() <= 1
    alone = torch.cat([VIEW(IMAGES[i : i + 1], plan[i : i + 1]) for i in range(8)])
    torch.testing.assert_close(seen, alone)


def test_without_crop_jitter_and_grey_an_image_stays_as_it_is_but_mirrored() -> None:
    plan = drawn()
    plan[:, 0], plan[:, 4], plan[:, 8] = 1.0, 0.9, 0.9  # the whole area; no jitter; not grey
    torch.testing.assert_close(VIEW(IMAGES, plan), IMAGES.float() / 255, atol=1e-5, rtol=0)
    plan[:, 3] = 0.1
    torch.testing.assert_close(VIEW(IMAGES, plan), IMAGES.float().flip(3) / 255, atol=1e-5, rtol=0)


def test_a_grey_image_has_three_equal_colours() -> None:
    plan = drawn()
    plan[:, 8] = 0.1
    red, green, blue = VIEW(IMAGES, plan).unbind(1)
    assert red.equal(green)
    assert green.equal(blue)


def test_grey_drawings_are_taken_too() -> None:
    assert VIEW(IMAGES[:, :1], drawn()).shape == (8, 1, 16, 16)
