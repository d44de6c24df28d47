from pathlib import Path

import pytest
import torch

from smoothpl.data import CentralCrop, Pictures, RandomResizedCrop
from smoothpl.data.decode import decode
from smoothpl.data.pictures import unreadable
from smoothpl.errors import ConfigError
from tests.support.gallery import BAD, GOOD


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_not_a_picture_is_named_with_the_way_out(name: str, tmp_path: Path) -> None:
    BAD[name](tmp_path / name)
    pictures = Pictures([tmp_path / name], torch.tensor([0]))
    with pytest.raises(ConfigError, match=rf"{name} is not an image .*data\.on_bad_image=skip"):
        pictures.read(torch.tensor([0]), CentralCrop(8), [torch.empty(1, 0)])


def test_the_unreadable_ones_are_found_among_all(tmp_path: Path) -> None:
    for name, make in (GOOD | BAD).items():
        make(tmp_path / name)
    (tmp_path / "broken link.jpg").symlink_to(tmp_path / "nowhere")
    paths = sorted(tmp_path.iterdir())
    assert {paths[number].name for number in unreadable(paths)} == {*BAD, "broken link.jpg"}


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.jpg is not an image that can be read .*No such file"):
        Pictures([tmp_path / "gone.jpg"], torch.tensor([0])).read(
            torch.tensor([0]), CentralCrop(4), [torch.empty(1, 0)]
        )


def test_a_picture_is_framed_once_for_each_of_the_draws(tmp_path: Path) -> None:
    GOOD["plain.jpg"](tmp_path / "plain.jpg")
    pictures, frame = Pictures([tmp_path / "plain.jpg"], torch.tensor([3])), RandomResizedCrop(16)
    draws = [torch.rand(2, frame.num_draws) for _ in range(2)]
    first, second = pictures.read(torch.tensor([0, 0]), frame, draws)
    assert first.shape == second.shape == (2, 3, 16, 16)
    picture = decode(tmp_path / "plain.jpg")
    assert torch.equal(second[1], frame(picture, draws[1][1]))
    assert not torch.equal(first, second)


def test_names_of_any_script_are_found(tmp_path: Path) -> None:
    GOOD["plain.jpg"](tmp_path / "猫 και äöü.jpg")
    pictures = Pictures([tmp_path / "猫 και äöü.jpg"], torch.tensor([0]))
    assert len(pictures.read(torch.tensor([0]), CentralCrop(4), [torch.empty(1, 0)])[0]) == len(pictures) == 1
