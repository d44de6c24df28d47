import torch

from smoothpl.data.batch import RawStep


def step(strong: torch.Tensor | None) -> RawStep:
    nothing = torch.empty(0)
    return RawStep(nothing, nothing, None, torch.zeros(2, 3, 8, 8), strong, nothing, None, None)


def test_the_strong_view_is_made_of_the_same_images_unless_a_frame_has_cut_out_others() -> None:
    same = step(None)
    assert same.of_strong is same.unlabeled
    others = torch.ones(2, 3, 8, 8)
    assert step(others).of_strong is others
