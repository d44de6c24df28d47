import torch

from smoothpl.data.views.turns import every_turn, quarter_turns


def test_every_image_is_turned_by_its_own_number_of_quarters() -> None:
    images = torch.randn(6, 3, 5, 5)
    turn = torch.tensor([0, 1, 2, 3, 1, 0])
    expected = torch.stack(
        [torch.rot90(image, int(number), (1, 2)) for image, number in zip(images, turn, strict=True)]
    )
    assert quarter_turns(images, turn).equal(expected)


def test_all_turns_of_an_image_stand_one_after_the_other() -> None:
    images = torch.randn(2, 3, 5, 5)
    every = every_turn(images)
    for number in range(4):
        assert every[number::4].equal(torch.rot90(images, number, (2, 3)))
