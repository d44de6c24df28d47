import math

import pytest
import torch
from hydra.errors import InstantiationException
from hydra.utils import instantiate
from torch import Tensor

from benchmarks import pillow_views
from benchmarks.waiting import Synchronisations
from smoothpl.data import View, digits
from tests.support.composing import build, composed, options
from tests.support.images import in_memory
from tests.support.pillow import pillow
from tests.support.real import ROOT, needs_cifar10, real_cifar10

DATA = {"digits": "digits", "imagenet": "imagenet"}  # which data a file of views is for; all others for photographs


def both(option: str) -> list[View]:
    config = composed(f"views={option}", f"data={DATA.get(option, 'cifar10')}")
    views = instantiate(config.views, _convert_="all")
    return [views.weak, views.strong]


@pytest.mark.parametrize("option", options("views"))
def test_the_view_of_an_image_depends_on_its_own_draws_only(option: str) -> None:
    images = torch.randint(256, (32, 1 if option == "digits" else 3, 32, 32), dtype=torch.uint8)
    for view in both(option):
        draws = torch.rand(32, view.num_draws)
        together = view(images, view.plan(draws, images.shape))
        alone = [view(images[i : i + 1], view.plan(draws[i : i + 1], images[:1].shape)) for i in range(32)]
        torch.testing.assert_close(together, torch.cat(alone), atol=1e-6, rtol=0)
        again = view(images, view.plan(torch.rand(32, view.num_draws), images.shape))
        assert not torch.equal(again, together)


@pytest.mark.parametrize("option", options("views"))
def test_a_view_leaves_the_stored_images_alone(option: str) -> None:
    images = torch.randint(256, (32, 1 if option == "digits" else 3, 32, 32), dtype=torch.uint8)
    before = images.clone()
    for view in both(option):
        view(images, view.plan(torch.rand(32, view.num_draws), images.shape))
    assert torch.equal(images, before)


@pytest.mark.parametrize("option", options("views"))
def test_a_view_never_asks_the_device_for_a_number(option: str) -> None:
    images = torch.randint(256, (32, 1 if option == "digits" else 3, 32, 32), dtype=torch.uint8)
    for view in both(option):
        plan = view.plan(torch.rand(32, view.num_draws), images.shape)
        with Synchronisations() as synchronisations:
            view(images, plan)
        assert not synchronisations.found


@needs_cifar10
def test_the_views_of_the_paper_are_pillows_from_photograph_to_network() -> None:
    """views=torchssl as a whole: operations, cutout, flip, crop and scale, against one Pillow image after the other."""
    config = composed("data=cifar10", "views=torchssl", f"data.root={ROOT}")
    views = instantiate(config.views, _convert_="all")
    images = in_memory(real_cifar10().test).images[:500]
    for view, reference in ((views.weak, pillow_views.weak), (views.strong, pillow_views.strong)):
        draws = torch.rand(500, view.num_draws)
        expected = [
            reference(pillow(image), numbers) for image, numbers in zip(images, draws.double().tolist(), strict=True)
        ]
        seen = views.normalise(view(images, view.plan(draws, images.shape)))
        torch.testing.assert_close(seen, torch.stack(expected), atol=1e-6, rtol=1e-6)


def moments(pixels: Tensor) -> tuple[float, float]:
    return pixels.mean().item(), pixels.std().item()


def test_views_put_the_images_on_the_networks_scale() -> None:
    views = build("views", "digits")
    mean, std = moments(views.of_test(in_memory(digits().train).images))
    assert math.isclose(mean, 0, abs_tol=0.01)
    assert math.isclose(std, 1, abs_tol=0.01)


def test_uint8_and_float_pixels_end_on_the_same_scale() -> None:
    views = build("views", "digits")
    images = in_memory(digits().train).images[:10]
    torch.testing.assert_close(views.normalise(images), views.normalise(images.float() / 255), atol=1e-6, rtol=0)


def test_what_people_see_is_what_was_read() -> None:
    views = build("views", "digits")
    images = in_memory(digits().train).images[:10]
    torch.testing.assert_close(views.as_pixels(views.normalise(images)), images / 255, atol=1e-6, rtol=0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("data.mean=abc", r"data\.mean=abc must be a list of numbers, one for each channel"),
        ("data.mean=[]", r"data\.mean=\[\] must be a list of numbers"),
        ("data.std=[0]", r"data\.std=\[0\] must be a list of numbers, .* all of them positive"),
        ("data.std=[1,2]", r"data\.mean=.* and data\.std=.* must have one number for each channel"),
    ],
)
def test_images_are_scaled_by_one_number_for_each_channel(words: str, message: str) -> None:
    with pytest.raises(InstantiationException, match=message):
        instantiate(composed(words).views, _convert_="all")
