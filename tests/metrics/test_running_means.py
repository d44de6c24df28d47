import pytest
import torch

from smoothpl.metrics.running_means import RunningMeans


def test_a_flush_gives_the_means_since_the_last_one() -> None:
    means = RunningMeans(("loss", "coverage"))
    means.add({"loss": torch.tensor(1.0), "coverage": torch.tensor(0.25)})
    means.add({"coverage": torch.tensor(0.75), "loss": torch.tensor(3.0)})
    assert means.flush() == {"loss": 2.0, "coverage": 0.5}
    means.add({"loss": torch.tensor(5.0), "coverage": torch.tensor(1.0)})
    assert means.flush() == {"loss": 5.0, "coverage": 1.0}


def test_half_an_interval_survives_a_checkpoint() -> None:
    before, after = RunningMeans(("loss",)), RunningMeans(("loss",))
    before.add({"loss": torch.tensor(1.0)})
    after.load_state_dict(before.state_dict())
    after.add({"loss": torch.tensor(2.0)})
    assert after.flush() == {"loss": pytest.approx(1.5)}


def test_no_gradient_is_kept_alive() -> None:
    means = RunningMeans(("loss",))
    means.add({"loss": torch.tensor(1.0, requires_grad=True)})
    assert not means.sums.requires_grad
