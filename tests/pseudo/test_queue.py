import pytest
import torch

from smoothpl.pseudo.queue import QueueAlignment
from tests.support.steps import CLASSES, random_steps


@pytest.mark.parametrize("starts", ["empty", "uniform"])
def test_it_divides_by_the_mean_of_the_last_steps(starts: str) -> None:
    alignment = QueueAlignment(CLASSES, batches=5, starts=starts)
    means = [torch.full((CLASSES,), 1 / CLASSES)] * (5 if starts == "uniform" else 0)
    for beliefs in random_steps(20):
        own = beliefs.unlabeled.probabilities
        used = [*means, own.mean(0)] if starts == "empty" else means
        expected = own / (torch.stack(used[-5:]).mean(0) + 1e-6)
        means = [*means, own.mean(0)]
        alignment.see(beliefs)
        torch.testing.assert_close(alignment(own), expected / expected.sum(1, keepdim=True))


def test_towards_the_frequencies_of_labels() -> None:
    alignment = QueueAlignment(2, batches=3, towards="labels", starts="uniform")
    alignment.prepare(torch.tensor([30, 10]))
    torch.testing.assert_close(alignment(torch.tensor([[0.5, 0.5]])), torch.tensor([[0.75, 0.25]]), rtol=1e-5, atol=0)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ({"towards": "labeled"}, "align.towards=labeled must be labels or uniform"),
        ({"starts": "full"}, "align.starts=full must be empty or uniform"),
        ({"batches": 0}, "align.batches=0 must be positive"),
        ({"power": 2, "towards": "labels"}, "align.power=2 must lie in"),
        ({"power": 0}, "align.power=0 has no effect with align.towards=uniform; use towards=labels"),
    ],
)
def test_what_it_cannot_do_is_said(words: dict[str, int | str], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        QueueAlignment(**{"num_classes": 2, "batches": 3} | words)  # type: ignore[arg-type]


@pytest.mark.parametrize("power", [1.0, 0.5, 0.0])
def test_frequencies_of_labels_may_be_tempered(power: float) -> None:
    """CReST+: towards freq^t."""
    alignment = QueueAlignment(2, batches=3, towards="labels", starts="uniform", power=power)
    alignment.prepare(torch.tensor([90, 10]))
    wanted = torch.tensor([0.9, 0.1]) ** power
    torch.testing.assert_close(alignment(torch.tensor([[0.5, 0.5]]))[0], wanted / wanted.sum(), rtol=1e-5, atol=0)
