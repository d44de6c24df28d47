from pathlib import Path

import pytest
import torch

from smoothpl.callbacks import EMA, ProgressReport
from smoothpl.data import Fold
from smoothpl.errors import ConfigError
from smoothpl.loggers.curves import Curves
from smoothpl.nets.finetuning.whole import WholeNetwork
from smoothpl.optim import SGDByDepth, WeightDecaySGD
from smoothpl.pseudo import Power
from smoothpl.run.build import build_data, build_module, build_optimizer, build_trainer
from smoothpl.terms import Lesson
from tests.support.composing import SMALL, composed


def test_data_are_not_read_before_training_starts() -> None:
    assert not hasattr(build_data(composed()), "source")


def test_the_knobs_reach_the_parts() -> None:
    module = build_module(composed("threshold=0.8", "shape=square", "unlabeled_weight=3", "log_every=7"))
    assert module.weighting is not None
    assert module.weighting.policy.threshold == 0.8
    assert module.weighting.shape == Power(2)
    lesson = module.terms["lesson"]
    assert isinstance(lesson, Lesson)
    assert (lesson.weight, module.log_every) == (3, 7)


def test_the_network_is_laid_out_for_fast_convolutions() -> None:
    weight = build_module(composed()).network.get_parameter("blocks.1.conv1.weight")
    assert weight.is_contiguous(memory_format=torch.channels_last)


def test_the_trainer_watches_with_the_callbacks_of_the_config(tmp_path: Path) -> None:
    trainer = build_trainer(composed(), tmp_path)
    assert {EMA, ProgressReport} <= {type(callback) for callback in trainer.callbacks}  # type: ignore[attr-defined]
    assert isinstance(trainer.logger, Curves)
    silent = build_trainer(composed("callbacks.progress=null", "logger=none"), tmp_path)
    assert ProgressReport not in {type(callback) for callback in silent.callbacks}  # type: ignore[attr-defined]
    assert silent.logger is None


def test_gradients_are_not_accumulated_for_a_method_with_a_memory_of_steps() -> None:
    with pytest.raises(ConfigError, match=r"accumulate=2: the memory of method=flexmatch is made for whole steps"):
        build_module(composed("method=flexmatch", "accumulate=2"))
    build_module(composed("method=smooth", "accumulate=2"))


def test_a_deterministic_trainer_does_not_fill_memory_that_is_written_anyway(tmp_path: Path) -> None:
    build_trainer(composed("deterministic=true"), tmp_path)
    torch.use_deterministic_algorithms(True)
    try:
        assert not torch.empty(1000).isnan().all()
    finally:
        torch.use_deterministic_algorithms(False)


REFUSED = {
    "num_labels=45": r"num_labels=45 does not divide evenly among 10 classes; .*for example num_labels=40",
    "num_labels=3": r"for example num_labels=10, or split=random",
    "num_labels=45 split=imbalanced": r"num_labels=45 does not divide evenly",
    "split=imbalanced split.keep=0": r"split\.keep=0 must lie in \(0, 1\]",
    "split=imbalanced split.num_thinned=11": r"split\.num_thinned=11 must be a number of classes, from 0 to 10",
    "split=imbalanced split.labeled_tail=0.5": r"split\.labeled_tail=0\.5 must be 1",
    "split=imbalanced split.keep=1": r"use split=balanced",
    "split=given num_labels=null": r"split=given and data=digits: .*use both or neither",
    "unlabeled_weight=auto method=fixmatch": r"unlabeled_weight=auto compares a smooth shape with shape=step",
    "shape=step factor_weight=0.1": r"factor_weight=0\.1 has no effect with a shape that jumps.*shape=linear",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_only_a_part_can_know_is_refused_when_it_is_built(words: str) -> None:
    config = composed(*words.split())
    with pytest.raises(ConfigError, match=REFUSED[words]):
        build_module(config), build_data(config)


@pytest.mark.parametrize(
    "words", ["num_labels=43 split=random", "num_labels=43 split=imbalanced split.labeled_tail=10"]
)
def test_a_split_that_needs_no_even_numbers_takes_any(words: str) -> None:
    build_data(composed("num_labels=43", *words.split()))


class StepOfMyOwn:
    """Jumps, and is called by another name than smoothpl's."""

    def __call__(self, confidence: torch.Tensor, threshold: torch.Tensor) -> torch.Tensor:
        return (confidence > threshold).float()


@pytest.mark.parametrize("words", ["factor_weight=0.1", "unlabeled_weight=auto", "smooth=strict"])
def test_a_shape_is_judged_by_what_it_does_and_not_by_its_name(words: str) -> None:
    config = composed(words)
    config.shape = {"_target_": f"{__name__}.StepOfMyOwn"}
    with pytest.raises(ConfigError, match=r"jumps"):
        build_module(config)


class EveryTenth:
    """A split of one's own that is an object, and not a function with settings."""

    def __call__(self, labels: torch.Tensor) -> Fold:
        return Fold(torch.arange(0, len(labels), 10), torch.arange(len(labels)))


def test_a_split_of_ones_own_may_be_an_object() -> None:
    config = composed("num_labels=null", "split=full")
    config.split = {"_target_": f"{__name__}.EveryTenth"}
    data = build_data(config)
    data.setup("fit")
    assert len(data.fold.labeled) == 130


def test_a_backbone_that_is_finetuned_learns_by_depth() -> None:
    config = composed(
        *SMALL, "finetune=norms", "finetune.learning_rate=0.2", "finetune.decay=0.5", "optim.momentum=0.7"
    )
    assert isinstance(build_module(config).network, WholeNetwork)
    usual = WeightDecaySGD(0.001, 0.7, True, 5e-4)
    assert build_optimizer(config) == SGDByDepth(usual, 0.2, 0.5, head_learning_rate=0.001)


def test_an_optimiser_of_ones_own_does_not_know_depths() -> None:
    config = composed(*SMALL, "finetune=norms")
    config.optim = {"_target_": "builtins.dict"}
    with pytest.raises(ConfigError, match=r"^finetune=norms gives each depth its learning rate, which optim=dict does"):
        build_optimizer(config)
