import torch

from smoothpl.data.batch import Batch, RawStep


def step(strong: torch.Tensor | None) -> RawStep:
    nothing = torch.empty(0)
    return RawStep(nothing, nothing, None, torch.zeros(2, 3, 8, 8), strong, nothing, None, None)


def test_the_strong_view_is_made_of_the_same_images_unless_a_frame_has_cut_out_others() -> None:
    same = step(None)
    assert same.of_strong is same.unlabeled
    others = torch.ones(2, 3, 8, 8)
    assert step(others).of_strong is others


def test_all_views_are_named_and_labeled_images_come_first() -> None:
    labeled, weak, medium = (torch.full((1,), float(number)) for number in range(3))
    batch = Batch(labeled, labeled, weak, None, labeled, views={"medium": medium})
    assert [*batch.all_views.items()] == [("labeled", labeled), ("weak", weak), ("medium", medium)]
    assert [*batch._replace(strong=weak).all_views] == ["labeled", "weak", "strong", "medium"]
