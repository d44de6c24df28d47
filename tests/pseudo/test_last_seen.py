import torch

from smoothpl.pseudo.last_seen import last_times


def test_of_an_image_that_comes_twice_the_last_time_counts() -> None:
    assert last_times(torch.tensor([7, 3, 7, 1, 3, 7])).tolist() == [5, 4, 5, 3, 4, 5]


def test_all_occurrences_of_an_image_write_the_same() -> None:
    chance = torch.Generator().manual_seed(1)
    image, value = torch.randint(20, (100,), generator=chance), torch.rand(100, generator=chance)
    memory = torch.zeros(20)
    memory[image] = value[last_times(image)]
    assert memory.tolist() == [
        value[max(place for place, each in enumerate(image.tolist()) if each == number)].item() for number in range(20)
    ]
