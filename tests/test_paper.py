"""The paper as oracle: its hyperparameters, its formulas in limits, its names."""

import pytest
import torch

from smoothpl.pseudo import Power, Step
from tests.support.composing import composed


def test_the_optimiser_is_the_papers() -> None:
    """Appendix, hyperparameters for CIFAR-10; only the schedule is scaled down for digits."""
    config = composed()
    assert config.optim.learning_rate == 0.03
    assert config.optim.momentum == 0.9
    assert config.optim.weight_decay == 5e-4
    assert config.threshold == 0.95
    assert config.factor_weight == 0
    assert config.seed == 2046
    assert config.unlabeled_ratio == 448 / 64


@pytest.mark.parametrize(("net", "width"), [("wrn_28_2", 2), ("wrn_28_8", 8)])
def test_the_cifar_networks_are_the_papers(net: str, width: int) -> None:
    config = composed(f"net={net}")
    assert (config.net.depth, config.net.width, config.net.variant) == (28, width, "torchssl")


def test_fixmatch_has_unlabeled_weight_1_and_smooth_the_benchmarks_own() -> None:
    assert composed("method=fixmatch").unlabeled_weight == 1
    smooth = composed("method=smooth")
    assert smooth.unlabeled_weight == smooth.smooth_unlabeled_weight > 1


def test_averages_forget_within_the_run_as_on_cifar() -> None:
    """0.999 and 0.001 over 2^20 steps: both windows are 1,000 steps, a thousandth of the run."""
    config = composed()
    assert 1 - config.ema_decay == pytest.approx(config.norm_momentum)
    assert 1 / config.norm_momentum <= config.max_steps / 5


def test_as_mu_goes_to_0_the_ramp_becomes_the_step_and_as_it_grows_only_certainty_counts() -> None:
    """Sec. 3.5."""
    confidence = torch.tensor([0.2, 0.95, 0.951, 0.97, 0.999, 1.0], dtype=torch.float64)
    threshold = torch.full_like(confidence, 0.95)
    torch.testing.assert_close(Power(1e-9)(confidence, threshold), Step()(confidence, threshold), atol=1e-6, rtol=0)
    assert Power(1e6)(confidence, threshold).tolist() == [0, 0, 0, 0, 0, 1]


def test_the_hyperparameters_of_cifar10_are_those_of_the_papers_table() -> None:
    """Appendix, CIFAR column: what every run on CIFAR-10 with 40 labels used."""
    config = composed("benchmark=cifar10_40", "method=smooth")
    assert (config.num_labels, config.threshold, config.unlabeled_weight) == (40, 0.95, 1.1)
    assert (config.batch_size, config.batch_size * config.unlabeled_ratio) == (64, 448)
    assert (config.max_steps, config.ema_decay, config.seed, config.factor_weight) == (2**20, 0.999, 2046, 0)
    assert (config.optim.learning_rate, config.optim.momentum, config.optim.weight_decay) == (0.03, 0.9, 5e-4)
    assert (config.net.depth, config.net.width) == (28, 2)
    assert composed("benchmark=cifar10_40", "method=fixmatch").unlabeled_weight == 1


@pytest.mark.parametrize(("knobs", "weight_decay"), [((), 1e-3), (("optim.weight_decay=5e-4",), 5e-4)])
def test_the_hyperparameters_of_cifar100_are_those_of_the_papers_table(
    knobs: tuple[str, ...], weight_decay: float
) -> None:
    config = composed("benchmark=cifar100_2500", "method=smooth", *knobs)
    assert (config.num_labels, config.data.num_classes) == (2500, 100)
    assert (config.threshold, config.unlabeled_weight, config.factor_weight) == (0.95, 1.1, 0)
    assert (config.batch_size, config.batch_size * config.unlabeled_ratio) == (64, 448)
    assert (config.max_steps, config.ema_decay, config.seed) == (2**20, 0.999, 2046)
    assert (config.optim.learning_rate, config.optim.momentum, config.optim.weight_decay) == (0.03, 0.9, weight_decay)
    assert (config.net.depth, config.net.width) == (28, 8)


@pytest.mark.parametrize(("method", "weight"), [("fixmatch", 1), ("smooth", 1.8)])
def test_the_hyperparameters_of_imagenet_are_those_of_the_papers_table(method: str, weight: float) -> None:
    config = composed("benchmark=imagenet_10pct", f"method={method}")
    assert (config.num_labels, config.data.num_classes, config.threshold) == (100_000, 1000, 0.70)
    assert (config.unlabeled_weight, config.factor_weight) == (weight, 0)
    assert (config.batch_size, config.batch_size * config.unlabeled_ratio) == (128, 896)
    assert (config.max_steps, config.ema_decay, config.seed) == (2**20, 0.999, 2046)
    assert (config.optim.learning_rate, config.optim.momentum, config.optim.weight_decay) == (0.03, 0.9, 3e-4)
    assert config.net._target_ == "smoothpl.nets.resnet50"


@pytest.mark.parametrize(
    ("method", "mu", "threshold"), [("smooth", 1, 0.95), ("smooth_square", 2, 0.82), ("smooth_sqrt", 0.5, 0.98)]
)
def test_the_named_variants_have_the_papers_shapes_and_thresholds(method: str, mu: float, threshold: float) -> None:
    config = composed("benchmark=cifar10_40", f"method={method}")
    assert (config.shape.mu, config.threshold, config.unlabeled_weight) == (mu, threshold, 1.1)
