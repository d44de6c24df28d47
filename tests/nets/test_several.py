import pytest
import torch
from torch.nn.functional import cross_entropy

from smoothpl.nets.heads import LinearHead
from smoothpl.nets.several import SeveralHeads, each_head, for_each_head, heads_of

DIMS, CLASSES = (4, 6), 3
VECTORS = torch.randn(8, sum(DIMS), generator=torch.Generator().manual_seed(0))


@pytest.fixture
def network() -> SeveralHeads:
    heads = [LinearHead(dim, CLASSES) for dim in DIMS]
    for number, head in enumerate(heads):
        torch.nn.init.normal_(head.classify.weight, generator=torch.Generator().manual_seed(number))
        head.temperature.fill_(0.5 + number)
    return SeveralHeads(heads)


def probabilities(network: SeveralHeads, sharpened: bool = False) -> torch.Tensor:
    first, second = network.heads
    one, other = first(VECTORS[:, :4]), second(VECTORS[:, 4:])
    if sharpened:
        one, other = one / 0.5, other / 1.5
    mean: torch.Tensor = (one.softmax(dim=1) + other.softmax(dim=1)) / 2
    return mean


def test_they_judge_by_the_mean_of_their_probabilities(network: SeveralHeads) -> None:
    torch.testing.assert_close(network(VECTORS).softmax(dim=1), probabilities(network))


def test_each_is_as_sure_as_its_temperature_says(network: SeveralHeads) -> None:
    beliefs = network.confidences_of(network.apart(VECTORS)).softmax(dim=1)
    torch.testing.assert_close(beliefs, probabilities(network, sharpened=True))


def test_a_loss_over_all_heads_is_the_mean_of_their_losses(network: SeveralHeads) -> None:
    label = torch.arange(8) % CLASSES
    logits = network.apart(VECTORS)
    found = cross_entropy(each_head(logits), for_each_head(label, logits))
    expected = sum(cross_entropy(logits[:, head], label) for head in (0, 1)) / 2
    torch.testing.assert_close(found, expected)


def test_one_head_alone_is_left_as_it_is() -> None:
    logits, label = torch.randn(5, 3), torch.arange(5)
    assert each_head(logits) is logits
    assert for_each_head(label, logits) is label


def test_heads_are_found_in_a_network_and_none_in_others(network: SeveralHeads) -> None:
    assert heads_of(network) == list(network.heads)
    assert heads_of(network.heads[0]) == [network.heads[0]]
    assert heads_of(torch.nn.Linear(1, 1)) == []
