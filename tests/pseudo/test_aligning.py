import torch

from smoothpl.pseudo.aligning import entropy, fit_classes, sure_of_class, tilted
from tests.support.steps import CLASSES


def beliefs(number: int, firmness: float) -> torch.Tensor:
    chance = torch.Generator().manual_seed(1)
    bias = torch.linspace(1, -1, CLASSES)
    return (firmness * (torch.randn(number, CLASSES, generator=chance) + bias)).softmax(1)


SIZES = torch.linspace(3, 1, CLASSES) / torch.linspace(3, 1, CLASSES).sum() * 300


def test_classes_get_their_sizes_by_moving_those_that_are_unsure() -> None:
    before = beliefs(300, 2.0)
    after = fit_classes(before, SIZES, 30)
    torch.testing.assert_close(after.sum(0), SIZES, rtol=1e-2, atol=0.1)
    torch.testing.assert_close(after.sum(1), torch.ones(300))
    assert (before.sum(0) - SIZES).abs().max() > 10
    order = entropy(before).squeeze(1).argsort()
    moved = (after - before).abs().sum(1)[order]
    assert moved[:50].mean() < moved[-50:].mean() / 3


def test_no_other_rows_with_these_sums_are_nearer() -> None:
    """Along every direction that keeps both sums the slope of sum_i KL(x_i || p_i) / H_i is 0."""
    before = beliefs(60, 1.0).double()
    sizes = SIZES.double() / 5
    found = fit_classes(before, sizes, 200)
    x = found.clone().requires_grad_()
    (slope,) = torch.autograd.grad(((x * (x / before).log()).sum(1) / entropy(before).squeeze(1)).sum(), x)
    between = slope[:-1, :-1] - slope[1:, :-1] - slope[:-1, 1:] + slope[1:, 1:]
    assert between.abs().max() < 1e-6
    assert (found - before).abs().max() > 0.01


def test_rows_that_fit_already_stay() -> None:
    before = beliefs(300, 2.0)
    torch.testing.assert_close(fit_classes(before, before.sum(0), 10), before, rtol=1e-4, atol=1e-6)


def test_of_each_class_the_surest_entries_stay() -> None:
    before = beliefs(300, 2.0)
    kept = sure_of_class(before, SIZES, [7] * CLASSES)
    is_kept = kept > 1e-3
    for c in range(CLASSES):
        surest = before[:, c].argsort(descending=True)[:7]
        assert is_kept[surest, c].all()
    alone = is_kept.sum(1) == 0
    torch.testing.assert_close(kept[alone], torch.full_like(kept[alone], 1 / CLASSES))
    torch.testing.assert_close(kept.sum(1), torch.ones(300))


def test_no_duals_tilt_nothing_and_the_sure_are_hardly_tilted() -> None:
    before = beliefs(300, 2.0)
    torch.testing.assert_close(tilted(before, torch.zeros(CLASSES)), before)
    one_hot = torch.eye(CLASSES)
    torch.testing.assert_close(tilted(one_hot, torch.arange(float(CLASSES))), one_hot, atol=1e-3, rtol=0)
    assert torch.isfinite(tilted(one_hot, 1e4 * torch.randn(CLASSES))).all()
