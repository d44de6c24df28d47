from copy import deepcopy

import torch
from torch import nn

from smoothpl.nets.statistics import resting_statistics

IMAGES = torch.randn(16, 3, 4, 4, generator=torch.Generator().manual_seed(0))


def test_a_batch_is_normalised_by_itself_and_leaves_no_trace() -> None:
    norm = nn.BatchNorm2d(4)
    network = nn.Sequential(nn.Conv2d(3, 4, 1), norm)
    before, plain = deepcopy(network.state_dict()), deepcopy(network)(IMAGES)
    with resting_statistics(network):
        assert network(IMAGES).equal(plain)
    assert all(value.equal(before[name]) for name, value in network.state_dict().items())
    assert network(IMAGES).equal(plain)
    assert norm.running_mean is not None
    assert not norm.running_mean.equal(before["1.running_mean"])
    assert norm.num_batches_tracked == 1


def test_a_network_that_is_evaluated_normalises_by_its_batch_too_and_is_put_back() -> None:
    """As the teacher of Mean Teacher, which is never in training."""
    network = nn.Sequential(nn.BatchNorm2d(3)).eval()
    with resting_statistics(network):
        normalised = network(IMAGES)
    torch.testing.assert_close(normalised.mean(dim=(0, 2, 3)), torch.zeros(3), atol=1e-5, rtol=0)
    assert not network[0].training
    assert network(IMAGES).allclose(IMAGES, atol=1e-4)
