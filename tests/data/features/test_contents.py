from pathlib import Path

import numpy as np
import pytest
import torch

from smoothpl.data.features.contents import contents_of
from smoothpl.data.folder.decoded import Rows
from smoothpl.data.pictures import Pictures
from smoothpl.data.source import ImageSet
from tests.support.own import save


def test_an_image_is_known_by_its_pixels_wherever_it_stands() -> None:
    images = torch.randint(256, (5, 3, 4, 4), dtype=torch.uint8)
    labels = torch.zeros(5, dtype=torch.long)
    first, turned = (contents_of(ImageSet(each, labels), None) for each in (images, images.flip(0)))
    assert (first == turned[::-1]).all()
    assert len(np.unique(first[:, 0])) == 5


def test_the_same_bytes_in_other_dims_are_another_image() -> None:
    pixels, label = torch.arange(12, dtype=torch.uint8), torch.zeros(1, dtype=torch.long)
    one, other = (contents_of(ImageSet(pixels.view(1, 3, *dims), label), None) for dims in ((1, 4), (2, 2)))
    assert (one != other).any()


def test_decoded_files_are_known_by_file_and_size() -> None:
    def of(side: int) -> Rows:
        return Rows(torch.zeros(2, 3, side, side), torch.arange(2), torch.zeros(2), ["a", "b"])

    small, large = (contents_of(of(side), None) for side in (8, 16))
    assert (small[0] != small[1]).all()
    assert (small != large).all()


def test_pictures_are_known_by_their_files(tmp_path: Path) -> None:
    paths = [save(tmp_path / f"{number}.png", number) for number in (1, 2)]
    copied = tmp_path / "copy.png"
    copied.write_bytes(paths[0].read_bytes())
    found = contents_of(Pictures([*paths, copied], torch.zeros(3, dtype=torch.long)), None)
    assert (found[0] == found[2]).all()
    assert (found[0] != found[1]).any()


@pytest.mark.parametrize("number", [0, 1])
def test_no_images_have_no_contents(number: int) -> None:
    images = ImageSet(torch.zeros(number, 3, 2, 2, dtype=torch.uint8), torch.zeros(number, dtype=torch.long))
    assert contents_of(images, None).shape == (number, 2)
