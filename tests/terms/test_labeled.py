import pytest
import torch
from torch.nn.functional import cross_entropy

from smoothpl.pseudo import Beliefs, Fixed, Hard, Soft, Target, Weighting
from smoothpl.pseudo.shapes import Power
from smoothpl.terms import LabeledLesson, LabeledView
from tests.support.method_checks import step_of

WEAK, STRONG = 3 * torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(0))
LABEL = torch.tensor([0, 1, 2, 0])


def test_labels_teach_another_view() -> None:
    step = step_of(weak=WEAK, labeled_strong=STRONG)
    step = step._replace(batch=step.batch._replace(label=LABEL))
    torch.testing.assert_close(LabeledView()(step), cross_entropy(STRONG, LABEL))


@pytest.mark.parametrize("target", [Hard(), Soft()])
def test_labeled_images_are_weighed_as_unlabeled_ones_are(target: Target) -> None:
    step, believed = step_of(weak=STRONG, labeled_strong=STRONG), WEAK.softmax(1)
    weighting = Weighting(Fixed(0.6), Power())
    step = step._replace(beliefs=Beliefs(step.pseudo, believed, LABEL), weighting=weighting)
    weight = ((believed.amax(1) - 0.6) / 0.4).clamp(min=0)
    taught = believed.argmax(1) if isinstance(target, Hard) else believed
    expected = (weight * cross_entropy(STRONG, taught, reduction="none")).mean()
    term = LabeledLesson(target)
    torch.testing.assert_close(term(step), expected)
    assert term.is_hard == isinstance(target, Hard)
    assert expected > 0
