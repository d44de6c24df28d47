from typing import Any

import pytest
import torch
from torchvision.transforms import v2

from smoothpl.data import CentralCrop, Frame, RandomResizedCrop

SIZES = [(300, 400), (50, 500), (500, 50), (1, 40), (40, 1), (1, 1), (224, 224)]


@pytest.mark.parametrize(
    "frame", [RandomResizedCrop(32), RandomResizedCrop(32, ratio=(0.1, 10)), CentralCrop(32)], ids=str
)
@pytest.mark.parametrize(("height", "width"), SIZES)
def test_a_frame_lies_within_any_picture(frame: Frame, height: int, width: int) -> None:
    for draws in [
        *torch.rand(200, frame.num_draws),
        torch.zeros(frame.num_draws),
        torch.ones(frame.num_draws) - 2**-24,
    ]:
        top, left, h, w = frame.box(draws.tolist(), height, width)
        assert h > 0 <= top <= top + h <= height
        assert w > 0 <= left <= left + w <= width
    picture = torch.randint(256, (3, height, width), dtype=torch.uint8)
    assert frame(picture, torch.rand(frame.num_draws)).shape == (3, 32, 32)


def test_crops_are_distributed_as_torchvisions() -> None:
    """Areas, proportions and places of 4,000 crops of each; both take the middle of pictures that are too narrow."""
    ours, theirs = RandomResizedCrop(scale=(0.2, 1.0)), v2.RandomResizedCrop(224, scale=(0.2, 1.0))
    picture = torch.empty(3, 375, 500, dtype=torch.uint8)
    boxes = [ours.box(draws.tolist(), 375, 500) for draws in torch.rand(4000, ours.num_draws)]
    params = [theirs.make_params([picture]) for _ in range(4000)]
    reference = [(each["top"], each["left"], each["height"], each["width"]) for each in params]
    found, expected = torch.tensor(boxes).double(), torch.tensor(reference).double()
    torch.testing.assert_close(found.mean(0), expected.mean(0), atol=6, rtol=0)
    torch.testing.assert_close(found.std(0), expected.std(0), atol=6, rtol=0)


@pytest.mark.parametrize(("height", "width"), [(50, 500), (500, 50), (1, 40)])
def test_of_a_picture_too_narrow_the_middle_is_taken_as_torchvision_does(height: int, width: int) -> None:
    frame = RandomResizedCrop(scale=(0.9, 1.0))
    params = v2.RandomResizedCrop(224, scale=(0.9, 1.0)).make_params([torch.empty(3, height, width)])
    expected = tuple(params[key] for key in ("top", "left", "height", "width"))
    assert frame.box([0.5] * frame.num_draws, height, width) == expected


def test_the_test_frame_is_resize_and_centre_crop_in_one() -> None:
    assert CentralCrop(224).box([], 256, 300) == (16, 38, 224, 224)
    assert CentralCrop(8, share=1.0).box([], 20, 30) == (0, 5, 20, 20)


@pytest.mark.parametrize(
    ("kind", "setting"),
    [
        (RandomResizedCrop, {"size": 0}),
        (RandomResizedCrop, {"scale": (0.0, 1.0)}),
        (RandomResizedCrop, {"scale": (0.5, 0.2)}),
        (RandomResizedCrop, {"ratio": (-1.0, 1.0)}),
        (CentralCrop, {"share": 1.5}),
        (CentralCrop, {"size": 0}),
    ],
)
def test_settings_that_make_no_sense_are_refused(kind: Any, setting: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\(views\)"):
        kind(**setting)
