from unittest.mock import Mock

import torch

from smoothpl.losses import unlabeled_loss
from smoothpl.nets.output import Output
from smoothpl.pseudo import Fixed, Hard, Power, Soft, Weighting, pseudo_labels
from smoothpl.pseudo.distances import Squared
from smoothpl.terms import Lesson

CHANCE = torch.Generator().manual_seed(0)
LOGITS = torch.randn(6, 4, generator=CHANCE)
STEP = Mock(
    outputs={"strong": Output(LOGITS), "weak2": Output(2 * LOGITS)},
    lessons=pseudo_labels(torch.randn(6, 4, generator=CHANCE)),
    weight=torch.rand(6, generator=CHANCE),
    weighting=Weighting(Fixed(0.5), Power()),
)


def test_the_lesson_is_the_papers_loss() -> None:
    assert Lesson(Hard())(STEP).equal(unlabeled_loss(LOGITS, STEP.lessons.label, STEP.weight))


def test_another_view_and_another_distance_make_another_lesson() -> None:
    lesson = Lesson(Soft(), view="weak2", distance=Squared())
    difference = (2 * LOGITS).softmax(1) - STEP.lessons.probabilities
    torch.testing.assert_close(lesson(STEP), (STEP.weight * (difference**2).mean(1)).mean())
    assert lesson.needs == {"weak2"}
    assert Lesson(Hard()).needs == set()


def test_several_backbones_are_taught_the_same_each() -> None:
    both = STEP.outputs | {"strong": Output(torch.stack([LOGITS, 3 * LOGITS], dim=1))}
    step = Mock(outputs=both, lessons=STEP.lessons, weight=STEP.weight, weighting=STEP.weighting)
    each = [unlabeled_loss(scale * LOGITS, STEP.lessons.label, STEP.weight) for scale in (1, 3)]
    torch.testing.assert_close(Lesson(Hard())(step), (each[0] + each[1]) / 2)
