import pytest
import torch
from torch import Tensor

from smoothpl.pseudo import Fairness, PseudoLabels, pseudo_labels
from tests.support.steps import CLASSES, random_steps


def strong_views(size: int, step: int) -> Tensor:
    return 3 * torch.randn(size, CLASSES, generator=torch.Generator().manual_seed(step))


def test_the_hard_loss_is_the_published_rule_over_hundreds_of_steps() -> None:
    """With sizes that depend on the data, as it was published: only images that count are looked at."""
    fairness = Fairness(CLASSES, weight=0.05)
    mean_probability = histogram = torch.full((CLASSES,), 1 / CLASSES)
    for step, beliefs in enumerate(random_steps(300)):
        pseudo = beliefs.unlabeled
        weight = (pseudo.confidence > 0.99).float()
        logits = strong_views(len(weight), step)
        mean_probability = 0.999 * mean_probability + 0.001 * pseudo.probabilities.mean(dim=0)
        histogram = 0.999 * histogram + 0.001 * torch.bincount(pseudo.label, minlength=CLASSES) / len(weight)
        expected = torch.zeros(())
        if weight.any():
            kept = logits[weight.bool()].softmax(dim=1)
            predicted = torch.bincount(kept.argmax(dim=1), minlength=CLASSES)
            p = mean_probability / histogram
            q = torch.tensor([m / n * len(kept) if n else 0 for m, n in zip(kept.mean(0), predicted, strict=True)])
            expected = 0.05 * (p / p.sum() * torch.log(q / q.sum() + 1e-12)).sum()

        fairness.see(pseudo, weight)
        torch.testing.assert_close(fairness(logits, weight), expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(fairness.predicted, histogram, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("counts", ["hard", "soft"])
def test_without_a_pseudo_label_there_is_no_loss_and_no_gradient_that_is_not_finite(counts: str) -> None:
    fairness = Fairness(CLASSES, counts=counts)
    logits = strong_views(8, 0).requires_grad_()
    pseudo, none = pseudo_labels(strong_views(8, 1)), torch.zeros(8)
    fairness.see(pseudo, none)
    loss = fairness(logits, none)
    loss.backward()
    assert loss == 0
    assert logits.grad is not None
    assert not logits.grad.any()


def gradient(fairness: Fairness, logits: Tensor, weight: Tensor) -> Tensor:
    at = logits.clone().requires_grad_()
    (found,) = torch.autograd.grad(fairness(at, weight), at)
    return found


@pytest.mark.parametrize("counts", ["hard", "soft"])
def test_mixed_precision_changes_no_bit_of_loss_gradient_and_memory(counts: str) -> None:
    plain, mixed = (Fairness(CLASSES, weight=1.0, counts=counts) for _ in range(2))
    for step, beliefs in enumerate(random_steps(20)):
        pseudo, logits = beliefs.unlabeled, strong_views(32, step).requires_grad_()
        weight = (pseudo.confidence - 0.5).clamp(min=0) * 2
        plain.see(pseudo, weight)
        expected = plain(logits, weight)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            mixed.see(pseudo, weight)
            found = mixed(logits, weight)
        assert torch.equal(found, expected)
        assert torch.equal(*(torch.autograd.grad(loss, logits)[0] for loss in (found, expected)))
    assert torch.equal(mixed.predicted, plain.predicted)


def test_the_loss_is_one_graph_also_in_mixed_precision() -> None:
    fairness, logits = Fairness(CLASSES), strong_views(8, 0)
    compiled = torch.compile(fairness, fullgraph=True, backend="aot_eager")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.testing.assert_close(compiled(logits, torch.ones(8)), fairness(logits, torch.ones(8)))


@pytest.mark.parametrize(("counts", "jumps"), [("hard", True), ("soft", False)])
def test_soft_counts_do_not_jump_where_a_pseudo_label_begins_to_count(counts: str, jumps: bool) -> None:
    fairness = Fairness(CLASSES, weight=1.0, counts=counts)
    logits, weight = strong_views(8, 3), torch.tensor([1.0, 0.7, 0.2, 0, 0, 0, 0, 0])
    almost = weight.clone()
    almost[3] = 1e-6
    change = (gradient(fairness, logits, almost) - gradient(fairness, logits, weight)).abs().max()
    assert (change > 1e-4) == jumps


@pytest.mark.parametrize(("counts", "jumps"), [("hard", True), ("soft", False)])
def test_soft_counts_do_not_jump_where_a_strong_view_changes_its_class(counts: str, jumps: bool) -> None:
    fairness = Fairness(CLASSES, weight=1.0, counts=counts)
    logits = strong_views(8, 3)
    logits[0, :2] = logits[0].max() + 1
    here, there = logits.clone(), logits.clone()
    here[0, 0] += 1e-5
    there[0, 1] += 1e-5
    change = (gradient(fairness, here, torch.ones(8)) - gradient(fairness, there, torch.ones(8))).abs().max()
    assert (change > 1e-4) == jumps


def test_soft_memory_moves_by_as_much_as_counted() -> None:
    """(C,) += (1 - m) (weighted share of the step - weight of the step * memory)."""
    fairness = Fairness(4, counts="soft", momentum=0.9)
    weight = torch.tensor([1.0, 0.5, 0.0])
    probabilities = torch.eye(4)[:3]
    fairness.see(PseudoLabels(torch.tensor([0, 1, 2]), torch.ones(3), probabilities), weight)
    expected = 0.25 + 0.1 * (torch.tensor([1 / 3, 0.5 / 3, 0, 0]) - 0.5 * 0.25)
    torch.testing.assert_close(fairness.predicted, expected)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [({"counts": "few"}, "fairness.counts=few must be hard"), ({"weight": 0.0}, "use fairness=none")],
)
def test_what_makes_no_sense_is_refused(settings: dict[str, object], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Fairness(CLASSES, **settings)  # type: ignore[arg-type]
