from unittest.mock import Mock

import torch

from smoothpl.nets.output import Output
from smoothpl.pseudo import Fixed, Power, Weighting, pseudo_labels
from smoothpl.pseudo.judging import judge
from smoothpl.pseudo.teachers import Live

CHANCE = torch.Generator().manual_seed(0)


def test_a_step_is_judged_once_and_without_a_gradient() -> None:
    outputs = {name: Output(4 * torch.randn(6, 3, generator=CHANCE).requires_grad_()) for name in ("labeled", "weak")}
    batch = Mock(image=torch.arange(6), label=torch.zeros(6, dtype=torch.long))
    networks = Mock(believe=lambda logits: logits)
    step = judge(batch, outputs, Live(), Weighting(Fixed(0.5), Power()), networks)
    expected = pseudo_labels(outputs["weak"].logits, batch.image)
    assert step.pseudo.probabilities.equal(expected.probabilities)
    assert step.weight.equal(((expected.confidence - 0.5) / 0.5).clamp(min=0))
    assert not step.weight.requires_grad
    assert not step.beliefs.labeled.requires_grad
