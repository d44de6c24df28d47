import pytest
import torch

from smoothpl.pseudo import Alignment, RunningAlignment, Unaligned
from tests.support.composing import build, options
from tests.support.steps import CLASSES, random_steps


@pytest.mark.parametrize("name", options("align"))
def test_every_alignment_gives_probabilities(name: str) -> None:
    alignment = build("align", name)
    assert isinstance(alignment, Alignment)
    for beliefs in random_steps(20):
        alignment.see(beliefs)
        aligned = alignment(beliefs.unlabeled.probabilities)
        assert (aligned >= 0).all()
        torch.testing.assert_close(aligned.sum(dim=1), torch.ones(len(aligned)))


@pytest.mark.parametrize("towards", ["labeled", "uniform"])
def test_alignment_is_the_published_rule_over_hundreds_of_steps(towards: str) -> None:
    alignment = RunningAlignment(CLASSES, towards, momentum=0.9)
    predicted: list[float] | None = None
    wanted = [1 / CLASSES] * CLASSES
    for beliefs in random_steps(300):
        alignment.see(beliefs)
        rows = beliefs.unlabeled.probabilities.tolist()
        mean = [sum(row[c] for row in rows) / len(rows) for c in range(CLASSES)]
        predicted = mean if predicted is None else [0.9 * a + 0.1 * b for a, b in zip(predicted, mean, strict=True)]
        if towards == "labeled":
            labeled = beliefs.labeled.mean(dim=0).tolist()
            wanted = [0.9 * a + 0.1 * b for a, b in zip(wanted, labeled, strict=True)]
        factor = [(w + 1e-6) / (q + 1e-6) for w, q in zip(wanted, predicted, strict=True)]
        expected = [[p * f for p, f in zip(row, factor, strict=True)] for row in rows]
        expected = [[value / sum(row) for value in row] for row in expected]
        torch.testing.assert_close(
            alignment(beliefs.unlabeled.probabilities), torch.tensor(expected), atol=1e-5, rtol=1e-4
        )


def test_a_class_predicted_too_often_is_believed_less() -> None:
    alignment = RunningAlignment(CLASSES, "uniform")
    beliefs = next(random_steps(1))
    flood = torch.full((16, CLASSES), 0.02)
    flood[:, 4] = 0.82
    alignment.see(beliefs._replace(unlabeled=beliefs.unlabeled._replace(probabilities=flood)))
    assert alignment(flood)[0, 4] < 0.2


def test_an_unknown_direction_is_refused() -> None:
    with pytest.raises(ValueError, match=r"align\.towards=home must be labeled or uniform"):
        RunningAlignment(CLASSES, "home")


def test_a_class_without_a_label_cannot_be_aligned_to() -> None:
    per_class = torch.tensor([3, 0, 1])
    with pytest.raises(ValueError, match=r"align=labeled .* class 1 has none .* use align=uniform, align=none or"):
        RunningAlignment(3, "labeled").prepare(per_class)
    RunningAlignment(3, "uniform").prepare(per_class)
    Unaligned().prepare(per_class)
