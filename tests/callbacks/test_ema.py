from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
from lightning import Callback, LightningModule, Trainer

from smoothpl.module import SemiSupervisedModule
from smoothpl.run.build import build_data, build_module, build_trainer
from smoothpl.run.quiet import quiet_libraries
from tests.support.composing import TINY, composed


class PlainReference(Callback):
    """shadow = decay * shadow + (1 - decay) * parameter, one at a time, from the initial weights on, in float64."""

    def __init__(self, decay: float) -> None:
        self.decay = decay

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        assert isinstance(pl_module, SemiSupervisedModule)
        self.shadow = deepcopy(pl_module.network).double()
        self.updates = 0

    def on_train_batch_end(self, trainer: Trainer, pl_module: LightningModule, *_: Any) -> None:
        assert isinstance(pl_module, SemiSupervisedModule)
        if trainer.global_step > self.updates:
            self.updates += 1
            for shadow, live in zip(self.shadow.parameters(), pl_module.network.parameters(), strict=True):
                shadow.data = self.decay * shadow.data + (1 - self.decay) * live.data.double()


def fitted(tmp_path: Path, *overrides: str) -> tuple[SemiSupervisedModule, PlainReference, Trainer]:
    quiet_libraries()
    config = composed(*TINY, *overrides)
    reference = PlainReference(config.ema_decay)
    trainer = build_trainer(config, tmp_path, [reference])
    module = build_module(config)
    trainer.fit(module, datamodule=build_data(config))
    return module, reference, trainer


@pytest.mark.parametrize("more", [[], ["accumulate=2"]], ids=["every batch", "accumulated"])
@pytest.mark.parametrize("decay", [0.9, 0.999])
def test_the_average_follows_a_plain_reference_from_the_first_step_on(
    tmp_path: Path, decay: float, more: list[str]
) -> None:
    module, reference, _ = fitted(tmp_path, "max_steps=50", f"ema_decay={decay}", "logger=none", *more)
    assert reference.updates == 50
    for averaged, shadow in zip(module.average.parameters(), reference.shadow.parameters(), strict=True):
        torch.testing.assert_close(averaged.double(), shadow.data, atol=1e-5, rtol=0)


def test_batch_norm_statistics_are_those_of_the_live_network(tmp_path: Path) -> None:
    module, _, trainer = fitted(tmp_path, "eval_every=3", "logger=none")
    trainer.save_checkpoint(tmp_path / "last.ckpt")
    state = torch.load(tmp_path / "last.ckpt", weights_only=True)["state_dict"]
    for name, statistic in module.network.named_buffers():
        assert torch.equal(statistic, state[f"average.{name}"])


def test_without_decay_the_average_is_the_live_network(tmp_path: Path) -> None:
    module, _, _ = fitted(tmp_path, "ema_decay=0", "logger=none")
    for averaged, live in zip(module.average.parameters(), module.network.parameters(), strict=True):
        assert torch.equal(averaged, live)


def test_an_exception_during_evaluation_leaves_both_networks_as_they_were(tmp_path: Path) -> None:
    class Stumble(Callback):
        def on_validation_batch_end(self, trainer: Trainer, pl_module: LightningModule, *_: Any) -> None:
            assert isinstance(pl_module, SemiSupervisedModule)
            self.live = deepcopy(pl_module.network.state_dict())
            raise RuntimeError("stumbled")

    quiet_libraries()
    config = composed(*TINY, "logger=none")
    module, stumble = build_module(config), Stumble()
    with pytest.raises(RuntimeError, match="stumbled"):
        build_trainer(config, tmp_path, [stumble]).fit(module, datamodule=build_data(config))
    assert all(torch.equal(value, module.network.state_dict()[name]) for name, value in stumble.live.items())
    assert not torch.equal(module.network.get_parameter("stem.weight"), module.average.get_parameter("stem.weight"))
