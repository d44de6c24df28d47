"""Equilibrium values of the losses, measured in short runs: they give the unlabeled weight (unlabeled_weight=auto)."""

from copy import deepcopy
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from hydra.utils import instantiate
from lightning import Callback, LightningModule, Trainer, seed_everything
from omegaconf import DictConfig

from smoothpl.cli.messages import Terminal
from smoothpl.data.folder.scan import Scan
from smoothpl.errors import ConfigError
from smoothpl.record.record import Record, write
from smoothpl.run.build import build_data, build_module
from smoothpl.run.build_method import build_method
from smoothpl.run.memory import check_step
from smoothpl.run.quiet import quiet_libraries

SHORTEST = 500
"""Steps of the two runs of unlabeled_weight=auto, or a tenth of the run if that is more: equilibria are early."""


class Equilibrium(NamedTuple):
    """Means over the second half of a run."""

    unlabeled_loss: float  # weights included
    weight: float


class LossWeights(NamedTuple):
    """The paper's appendix on weights: its symbols, measured."""

    l_fm: float
    l_sfm: float  # of one image that counts fully
    l_phi: float
    unlabeled_weight: float
    factor_bound: float | None  # None without a threshold to know it by


def loss_weights(step: Equilibrium, smooth: Equilibrium, threshold: float | None) -> LossWeights:
    """lambda_FM l_FM = lambda_SFM l_Phi l_SFM with lambda_FM = 1, and lambda_Phi-bar = (1 - tau) lambda_u / l_SFM."""
    if not min(*step, *smooth) > 0:
        raise ConfigError("hardly any pseudo-label counted yet, so there is nothing to compare; use more steps.")
    l_sfm = smooth.unlabeled_loss / smooth.weight
    unlabeled_weight = step.unlabeled_loss / (smooth.weight * l_sfm)
    bound = None if threshold is None else (1 - threshold) * unlabeled_weight / l_sfm
    return LossWeights(step.unlabeled_loss, l_sfm, smooth.weight, unlabeled_weight, bound)


def measure_loss_weights(config: DictConfig, steps: int | None = None, scan: Scan | None = None) -> LossWeights:
    """Two runs of the same fold and seed: as configured, and with a step for a shape."""
    method = build_method(config)  # unlabeled_weight=auto: a shape that jumps is refused, before any work is done
    check_step(config, method.remembers)
    steps = min(config.max_steps, max(SHORTEST, config.max_steps // 10)) if steps is None else steps
    smooth, step = deepcopy(config), deepcopy(config)
    step.shape = {"_target_": "smoothpl.pseudo.Step"}
    for each in (smooth, step):
        each.unlabeled_weight, each.max_steps, each.factor_weight, each.smooth = 1.0, steps, 0.0, "allow"
    return loss_weights(measure(step, scan), measure(smooth, scan), config.policy.get("threshold"))


def measure_unlabeled_weight(config: DictConfig, run_dir: Path, record: Record, scan: Scan | None = None) -> float:
    """Before a run, once: a run that is resumed has it in its record."""
    if not record.equilibrium:
        Terminal().print("measuring the unlabeled weight in two short runs:")
        record.equilibrium = measure_loss_weights(config, scan=scan)._asdict()
        write(run_dir, record)
    weight = record.equilibrium["unlabeled_weight"]
    assert weight is not None
    return weight


class Listener(Callback):
    """Keeps what is logged in the second half of a run."""

    def __init__(self, log_every: int, max_steps: int) -> None:
        self.log_every = log_every
        self.max_steps = max_steps
        self.heard: list[Equilibrium] = []

    def on_train_batch_end(self, trainer: Trainer, pl_module: LightningModule, *_: Any) -> None:
        if trainer.global_step % self.log_every == 0 and 2 * trainer.global_step > self.max_steps:
            logged = trainer.callback_metrics
            self.heard.append(Equilibrium(logged["train/unlabeled_loss"].item(), logged["train/weight_mean"].item()))


def measure(config: DictConfig, scan: Scan | None = None) -> Equilibrium:
    """One run, without a record, a checkpoint or an evaluation."""
    quiet_libraries()
    seed_everything(config.seed, verbose=False)
    listener = Listener(config.log_every, config.max_steps)
    trainer = instantiate(config.trainer, logger=False, limit_val_batches=0, callbacks=[listener])
    trainer.fit(build_module(config), datamodule=build_data(config, scan))
    if not listener.heard:
        raise ConfigError(f"max_steps={config.max_steps} is too short to measure anything; use more steps.")
    return Equilibrium(*(mean(values) for values in zip(*listener.heard, strict=True)))
