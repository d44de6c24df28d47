from pathlib import Path

import pytest
import torch

from smoothpl.build import build_data, build_module, build_trainer
from smoothpl.callbacks import EMA, ProgressReport
from smoothpl.errors import ConfigError
from smoothpl.loggers.curves import Curves
from tests.composing import composed


def test_data_are_not_read_before_training_starts() -> None:
    assert not hasattr(build_data(composed()), "source")


def test_the_knobs_reach_the_parts() -> None:
    module = build_module(composed("threshold=0.8", "shape=square", "unlabeled_weight=3", "log_every=7"))
    assert module.weighting is not None
    assert module.weighting.policy.threshold == 0.8
    assert module.weighting.shape.mu == 2  # type: ignore[attr-defined]
    assert (module.unlabeled_weight, module.log_every) == (3, 7)


def test_the_network_is_laid_out_for_fast_convolutions() -> None:
    weight = build_module(composed()).network.get_parameter("blocks.1.conv1.weight")
    assert weight.is_contiguous(memory_format=torch.channels_last)


def test_the_trainer_watches_with_the_callbacks_of_the_config(tmp_path: Path) -> None:
    trainer = build_trainer(composed(), tmp_path)
    assert {EMA, ProgressReport} <= {type(callback) for callback in trainer.callbacks}
    assert isinstance(trainer.logger, Curves)
    silent = build_trainer(composed("callbacks.progress=null", "logger=none"), tmp_path)
    assert ProgressReport not in {type(callback) for callback in silent.callbacks}
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
