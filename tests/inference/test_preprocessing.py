from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from smoothpl.data.frames import CentralCrop
from smoothpl.inference.preprocessing import Preparation, as_picture, several, shade

COLOURS = torch.randint(0, 256, (3, 6, 4), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))


def pillow() -> Image.Image:
    return Image.fromarray(COLOURS.permute(1, 2, 0).numpy())


@pytest.mark.parametrize("kind", ["tensor", "floats", "array", "with transparency", "pillow", "file"])
def test_every_kind_of_image_gives_the_same_pixels(kind: str, tmp_path: Path) -> None:
    pillow().save(tmp_path / "image.png")
    images = {
        "tensor": COLOURS,
        "floats": COLOURS / 255,
        "array": COLOURS.permute(1, 2, 0).numpy(),
        "with transparency": torch.cat([COLOURS, COLOURS[:1]]),
        "pillow": pillow(),
        "file": tmp_path / "image.png",
    }
    assert torch.equal(as_picture(images[kind]), COLOURS)  # type: ignore[arg-type]


def test_a_grey_image_has_three_equal_channels() -> None:
    grey = COLOURS[0].numpy()
    assert torch.equal(as_picture(grey), COLOURS[:1].expand(3, -1, -1))


@pytest.mark.parametrize("image", [torch.zeros(2, 4, 4), torch.zeros(4), torch.zeros(3, 4, 4, dtype=torch.int32)])
def test_what_is_not_an_image_is_refused_with_what_is(image: torch.Tensor) -> None:
    with pytest.raises(ValueError, match="an image must be"):
        as_picture(image)


def test_grey_is_what_pillow_makes_of_colours() -> None:
    assert torch.equal(shade(COLOURS).byte().squeeze(0), torch.from_numpy(np.array(pillow().convert("L"))))


@pytest.mark.parametrize(("channels", "dims"), [(1, (1, 4, 4)), (3, (3, 4, 4))])
def test_the_middle_is_cut_out_and_made_grey_for_a_network_that_sees_grey(channels: int, dims: tuple[int, ...]) -> None:
    pixels = Preparation(CentralCrop(4, share=1.0), channels)(COLOURS)
    middle = COLOURS[:, 1:5]
    assert pixels.shape == dims
    assert pixels.dtype == torch.uint8
    assert torch.equal(pixels, middle if channels == 3 else shade(middle).byte())


def test_one_image_a_batch_and_a_list_are_told_apart() -> None:
    assert len(several(COLOURS)) == 1
    assert len(several(torch.zeros(5, 3, 4, 4))) == 5
    assert len(several("photo.jpg")) == 1
    assert len(several([COLOURS, pillow()])) == 2
