import pytest
import torch

from smoothpl.pseudo.shapes import Power, Shape, Step
from smoothpl.run.picking import surest

SIZES = torch.tensor([100, 10, 1])
COUNTS = (40, 30, 20)
"""Images that are predicted as each class."""


def predicted() -> tuple[torch.Tensor, torch.Tensor]:
    """image (n,), probabilities (n, C): each class with confidences of its own."""
    chance = torch.Generator().manual_seed(0)
    label = torch.arange(3).repeat_interleave(torch.tensor(COUNTS))[torch.randperm(sum(COUNTS), generator=chance)]
    confidence = 0.5 + 0.5 * torch.rand(len(label), generator=chance)
    probabilities = (
        ((1 - confidence) / 2).unsqueeze(1).repeat(1, 3).scatter(1, label.unsqueeze(1), confidence.unsqueeze(1))
    )
    return 1000 + torch.arange(len(label)), probabilities


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_of_every_class_the_published_share_of_the_surest_is_picked(order: list[int]) -> None:
    """Stated independently: of rank l the share (N of rank C - 1 - l / N of rank 0)^(1/3), as USB counts, rounded down.
    `order`: the class that each size belongs to."""
    sizes = torch.empty(3, dtype=torch.long)
    sizes[torch.tensor(order)] = SIZES
    image, probabilities = predicted()
    picked = surest(image, probabilities, sizes, Step())
    assert picked.weight.tolist() == [1.0] * len(picked.image)
    for rank, c in enumerate(order):
        rows = [
            (-p.max().item(), i) for i, p in zip(image.tolist(), probabilities, strict=True) if int(p.argmax()) == c
        ]
        share = (SIZES[2 - rank].item() / 100) ** (1 / 3)
        expected = [i for _, i in sorted(rows)][: int(len(rows) * share)]
        assert len(expected) == int(COUNTS[c] * share)
        assert picked.image[picked.label == c].tolist() == expected


@pytest.mark.parametrize("mu", [0.5, 1.0, 2.0])
def test_with_a_ramp_they_weigh_by_rank_down_to_nothing_where_the_share_ends(mu: float) -> None:
    image, probabilities = predicted()
    alike, smooth = (surest(image, probabilities, SIZES, shape) for shape in (Step(), Power(mu)))
    assert torch.equal(alike.image, smooth.image)
    for c in range(3):
        weight = smooth.weight[smooth.label == c].double()
        place = (torch.arange(len(weight), dtype=torch.float64) + 0.5) / len(weight)
        torch.testing.assert_close(weight, (1 - place) ** mu, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [Step(), Power(1.0)])
def test_nothing_is_picked_of_a_class_that_is_never_predicted_or_whose_counterpart_has_no_label(shape: Shape) -> None:
    image, probabilities = predicted()
    picked = surest(image, probabilities, torch.tensor([5, 3, 0]), shape)
    assert 0 not in picked.label
    assert (picked.label == 2).sum() == COUNTS[2]
    of_one = probabilities.argmax(dim=1) == 0
    nothing = surest(image[of_one], probabilities[of_one], torch.tensor([5, 3, 0]), shape)
    assert [len(part) for part in nothing] == [0, 0, 0]
