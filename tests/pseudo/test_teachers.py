from unittest.mock import Mock

import pytest
import torch
from torch import nn

from smoothpl.errors import ConfigError
from smoothpl.nets import LinearHead
from smoothpl.nets.forwards import look
from smoothpl.nets.noise import normal
from smoothpl.nets.output import Output
from smoothpl.nets.stochastic import Stochastic, disturbed
from smoothpl.nets.with_heads import WithHeads
from smoothpl.pseudo.teachers import Average, Ensemble, Live, MeanOf, OfHead

CHANCE = torch.Generator().manual_seed(0)
OUTPUTS = {
    name: Output(torch.randn(5, 3, generator=CHANCE).requires_grad_(), heads={"second": torch.randn(5, 3)})
    for name in ("weak", "weak2")
}


def networks(average: nn.Module | None = None) -> Mock:
    return Mock(average=average, believe=lambda logits: 2 * logits, average_logits=average)


@pytest.mark.parametrize("teacher", [Live(), MeanOf(["weak", "weak2"]), OfHead("second")])
def test_what_a_teacher_says_has_no_gradient(teacher: nn.Module) -> None:
    said = teacher(Mock(), OUTPUTS, networks())
    assert not said.requires_grad
    torch.testing.assert_close(said.sum(dim=1), torch.ones(5))


def test_the_network_itself_teaches_on_the_scale_of_confidences() -> None:
    torch.testing.assert_close(Live()(Mock(), OUTPUTS, networks()), (2 * OUTPUTS["weak"].logits).softmax(1).detach())


def test_several_views_teach_by_their_mean() -> None:
    each = [(2 * OUTPUTS[name].logits).softmax(1).detach() for name in ("weak", "weak2")]
    torch.testing.assert_close(MeanOf(["weak", "weak2"])(Mock(), OUTPUTS, networks()), (each[0] + each[1]) / 2)
    assert MeanOf(["weak", "weak2"]).needs == {"weak2"}
    with pytest.raises(ConfigError, match=r"teacher\.views=\[\] must name"):
        MeanOf([])


def test_the_average_teaches_by_the_statistics_of_its_batch() -> None:
    average = nn.Sequential(nn.BatchNorm1d(3)).eval()
    batch = Mock(weak=torch.randn(50, 3, generator=CHANCE) + 7)
    said = Average()(batch, {}, networks(average))
    expected = 2 * nn.functional.batch_norm(batch.weak, None, None, training=True)
    torch.testing.assert_close(said, expected.softmax(1))
    assert not said.requires_grad


def test_a_head_teaches_by_its_own_logits() -> None:
    assert OfHead("second")(Mock(), OUTPUTS, networks()).equal(OUTPUTS["weak"].heads["second"].softmax(1))
    assert OfHead("second").needs == {"second"}


def test_an_ensemble_teaches_by_its_mean_and_scores_by_its_product() -> None:
    seed, features = torch.tensor([5]), torch.randn(6, 4, generator=CHANCE)
    torch.manual_seed(0)
    network = WithHeads(
        LinearHead(4, 3), {"stochastic": lambda dim, classes: Stochastic(dim, classes, 2.0)}, num_classes=3
    )
    outputs = disturbed(network, look(network, {"weak": features}, "joint"), {"heads": seed})
    known = Mock(network=network, believe=lambda logits: logits)
    batch = Mock(chance={"heads": seed}, image=torch.arange(6))
    pseudo = Ensemble(3).label(batch, outputs, known)
    each = torch.stack([(features @ (2 * normal(seed, (3, 4), draw)).T).softmax(1) for draw in range(3)])
    torch.testing.assert_close(pseudo.probabilities, each.mean(0))
    torch.testing.assert_close(pseudo.consensus, each.prod(0).amax(1))
    assert not pseudo.probabilities.requires_grad
    assert Ensemble(3)(batch, outputs, known).equal(pseudo.probabilities)
    with pytest.raises(ConfigError, match=r"teacher\.draws=0 must be a positive whole number"):
        Ensemble(0)
