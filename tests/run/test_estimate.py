import pytest
import torch

from smoothpl.data import ImageSet, Source
from smoothpl.run.build import build_module
from smoothpl.run.estimate import estimate, image_size, spell, try_step
from smoothpl.run.grid import Job
from tests.support.composing import OWN, composed, options

SIDES = {
    "cifar10": 32,
    "cifar100": 32,
    "digits": 8,
    "fashion_mnist": 28,
    "folder": 8,  # data.size of OWN
    "imagenet": 224,
    "stl10": 96,
    "svhn": 32,
}


def tall() -> Source:
    """A source that does not say how large its images are."""
    images = ImageSet(torch.zeros(40, 1, 12, 8, dtype=torch.uint8), torch.arange(40) % 10)
    return Source(images, images, tuple("0123456789"))


@pytest.mark.parametrize("data", options("data"))
def test_the_size_of_images_is_known_without_opening_them(data: str) -> None:
    config = composed(f"data={data}", *(OWN if data == "folder" else ()))
    assert image_size(config) == (SIDES[data], SIDES[data])


def test_a_source_that_does_not_say_is_opened() -> None:
    config = composed()
    config.data.source._target_ = "tests.run.test_estimate.tall"
    assert image_size(config) == (12, 8)


def test_a_step_takes_time_and_a_checkpoint_holds_three_copies_of_the_weights() -> None:
    seconds, size = try_step(composed("batch_size=4"))
    parameters = sum(each.numel() for each in build_module(composed()).network.parameters())
    assert seconds > 0
    assert size == 3 * 4 * parameters  # network, average and momentum, in 32 bits


def test_the_estimate_is_for_those_that_are_left() -> None:
    config = composed("batch_size=4", "max_steps=100")
    (line,) = estimate([Job([], config, "finished"), Job([], config, "failed"), Job([], config, "")])
    assert line.startswith("2 of 3 are left: about ")
    assert estimate([Job([], config, "finished")]) == ["All of them are finished."]


@pytest.mark.parametrize(
    ("seconds", "text"), [(5, "5 seconds"), (300, "5 minutes"), (8e3, "2 hours"), (1e6, "12 days")]
)
def test_times_are_spelled(seconds: float, text: str) -> None:
    assert spell(seconds) == text
