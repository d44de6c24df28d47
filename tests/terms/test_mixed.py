from unittest.mock import Mock

import torch
from torch.nn.functional import cross_entropy, one_hot

from smoothpl.nets.output import Output
from smoothpl.pseudo import Hard, Soft, pseudo_labels
from smoothpl.pseudo.distances import Squared
from smoothpl.pseudo.mixing import Mix
from smoothpl.terms import MixedLabels, MixedLesson
from smoothpl.terms.mixed import mixed_targets

CHANCE = torch.Generator().manual_seed(0)
MIX = Mix(["labeled", "weak"])
LESSONS = pseudo_labels(torch.randn(3, 4, generator=CHANCE))
STEP = Mock(
    batch=Mock(label=torch.tensor([1, 2]), chance={"mix": torch.rand(2, 5, generator=CHANCE, dtype=torch.float64)}),
    outputs={
        "mixed_labeled": Output(torch.randn(2, 4, generator=CHANCE)),
        "mixed_weak": Output(torch.randn(3, 4, generator=CHANCE)),
    },
    pseudo=LESSONS,
    lessons=LESSONS,
    weight=torch.tensor([1.0, 0.0, 0.5]),
)


def test_mixed_images_are_taught_the_mixture_of_what_their_parts_are_taught() -> None:
    whole = torch.cat([one_hot(STEP.batch.label, 4).float(), LESSONS.probabilities])
    weight, partner = MIX.weights(STEP.batch, 5)
    expected = weight.unsqueeze(1) * whole + (1 - weight.unsqueeze(1)) * whole[partner]
    found = mixed_targets(MIX, Soft(), STEP)
    torch.testing.assert_close(torch.cat([found["labeled"], found["weak"]]), expected)
    logits = STEP.outputs["mixed_labeled"].logits
    torch.testing.assert_close(MixedLabels(MIX, Soft())(STEP), cross_entropy(logits, expected[:2]))
    squared = ((STEP.outputs["mixed_weak"].logits.softmax(1) - expected[2:]) ** 2).mean(1)
    torch.testing.assert_close(MixedLesson(MIX, Soft(), Squared())(STEP), (STEP.weight * squared).mean())


def test_hard_guesses_are_mixed_too() -> None:
    assert mixed_targets(MIX, Hard(), STEP)["weak"].shape == (3, 4)
