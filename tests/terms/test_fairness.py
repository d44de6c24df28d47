from unittest.mock import Mock

import torch

from smoothpl.nets.output import Output
from smoothpl.pseudo import Fairness, Fixed, Power, Weighting, pseudo_labels
from smoothpl.terms.fairness import FairnessTerm

CHANCE = torch.Generator().manual_seed(0)


def test_it_is_the_loss_itself_with_the_weights_of_the_lesson() -> None:
    logits = torch.randn(8, 4, generator=CHANCE)
    step = Mock(
        outputs={"strong": Output(logits)},
        pseudo=pseudo_labels(torch.randn(8, 4, generator=CHANCE)),
        weight=torch.rand(8, generator=CHANCE),
    )
    term, part = FairnessTerm(Fairness(4, weight=0.05), "strong"), Fairness(4, weight=0.05)
    for _ in range(3):
        term.see(step)
        part.see(step.pseudo, step.weight)
        assert term.weighted(term(step)).equal(part(logits, step.weight))
    assert term.is_hard
    judge = Weighting(Fixed(0.9), Power())
    assert [str(each) for each in term.obstacles(judge)] == [
        "fairness.counts=hard counts predictions: use fairness.counts=soft"
    ]
    assert not FairnessTerm(Fairness(4, counts="soft"), "strong").obstacles(judge)
