import torch

from smoothpl.data import ImageSet


def test_the_length_of_a_set_is_its_number_of_images() -> None:
    assert len(ImageSet(torch.zeros(5, 1, 8, 8), torch.zeros(5))) == 5
