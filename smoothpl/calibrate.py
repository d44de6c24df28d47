"""python -m smoothpl.calibrate: the unlabeled weight that puts a smooth method on a level with FixMatch, measured."""

import sys
from copy import deepcopy
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

from omegaconf import DictConfig
from rich import box
from rich.console import Console
from rich.table import Table

from smoothpl.cli.arguments import compose_checked, read_words
from smoothpl.cli.front_door import run_command
from smoothpl.errors import ConfigError

if TYPE_CHECKING:
    from lightning import LightningModule, Trainer

USAGE = """python -m smoothpl.calibrate [knob=value ...] [folds=3] [steps=...]

Trains a smooth method and the same one with shape=step (FixMatch, if nothing
else is said) on the same folds, both with an unlabeled weight of 1, without
ever looking at the test set, and prints what the paper's appendix calls
equilibrium values: the unlabeled losses l_FM and l_SFM and the mean weight
l_Phi, over the second half of the steps; from these lambda_u, and the bound
below which the factor loss may help:
  python -m smoothpl.calibrate benchmark=digits_40
  python -m smoothpl.calibrate benchmark=cifar10_40 shape=sqrt threshold=0.98
                               steps=5000 folds=1"""
SHORTEST = 500
"""Steps of the two runs of unlabeled_weight=auto, or a tenth of the run if that is more: equilibria are early."""


class Equilibrium(NamedTuple):
    """Means over the second half of a run."""

    unlabeled_loss: float  # weights included
    weight: float


class Calibration(NamedTuple):
    """The paper's appendix on weights: its symbols, measured."""

    l_fm: float
    l_sfm: float  # of one image that counts fully
    l_phi: float
    unlabeled_weight: float
    factor_bound: float | None  # None without a threshold to know it by


def calibrated(step: Equilibrium, smooth: Equilibrium, threshold: float | None) -> Calibration:
    """lambda_FM l_FM = lambda_SFM l_Phi l_SFM with lambda_FM = 1, and lambda_Phi-bar = (1 - tau) lambda_u / l_SFM."""
    if not min(*step, *smooth) > 0:
        raise ConfigError("hardly a pseudo-label counted yet, so that there is nothing to compare; use more steps.")
    l_sfm = smooth.unlabeled_loss / smooth.weight
    unlabeled_weight = step.unlabeled_loss / (smooth.weight * l_sfm)
    bound = None if threshold is None else (1 - threshold) * unlabeled_weight / l_sfm
    return Calibration(step.unlabeled_loss, l_sfm, smooth.weight, unlabeled_weight, bound)


def main() -> None:
    knobs, words = read_words(USAGE, "folds", "steps")
    folds = whole(words.get("folds", "3"), "folds")
    steps = [f"max_steps={whole(words['steps'], 'steps')}"] if "steps" in words else []
    own = [each for each in knobs if not each.startswith("unlabeled_weight=")]
    console = Console()
    found = []
    for fold in range(folds):
        config = compose_checked([*own, f"fold={fold}", "unlabeled_weight=auto", *steps])
        console.print(f"fold {fold}: two runs of {config.max_steps} steps ...", highlight=False)
        found.append(calibrate(config, config.max_steps))
    console.print(tabulate(found))
    console.print(f"# python -m smoothpl.calibrate {' '.join(sys.argv[1:])}", soft_wrap=True, highlight=False)
    console.print(f"smooth_unlabeled_weight: {mean(each.unlabeled_weight for each in found):.2f}", highlight=False)
    bounds = [each.factor_bound for each in found if each.factor_bound is not None]
    if bounds:
        console.print(f"# a factor_weight that helps is below {mean(bounds):.2g}", highlight=False)


def calibrate(config: DictConfig, steps: int | None = None) -> Calibration:
    """Two runs of the same fold and seed: as configured, and with a step for a shape."""
    steps = min(config.max_steps, max(SHORTEST, config.max_steps // 10)) if steps is None else steps
    smooth, step = deepcopy(config), deepcopy(config)
    step.shape = {"_target_": "smoothpl.pseudo.Step"}
    for each in (smooth, step):
        each.unlabeled_weight, each.max_steps, each.factor_weight, each.smooth = 1.0, steps, 0.0, "allow"
    return calibrated(measure(step), measure(smooth), config.threshold)


def whole(text: str, name: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ConfigError(f"{name}={text} must be a positive whole number.")
    return int(text)


def measure(config: DictConfig) -> Equilibrium:
    """One run, without a record, a checkpoint or an evaluation."""
    from hydra.utils import instantiate
    from lightning import Callback, seed_everything

    from smoothpl.build import build_data, build_module
    from smoothpl.train import quiet_libraries

    class Listener(Callback):
        def __init__(self) -> None:
            self.heard: list[Equilibrium] = []

        def on_train_batch_end(self, trainer: "Trainer", pl_module: "LightningModule", *_: object) -> None:
            if trainer.global_step % config.log_every == 0 and 2 * trainer.global_step > config.max_steps:
                metrics = trainer.callback_metrics
                self.heard.append(
                    Equilibrium(metrics["train/unlabeled_loss"].item(), metrics["train/weight_mean"].item())
                )

    quiet_libraries()
    seed_everything(config.seed, verbose=False)
    listener = Listener()
    trainer = instantiate(config.trainer, logger=False, limit_val_batches=0, callbacks=[listener])
    trainer.fit(build_module(config), datamodule=build_data(config))
    if not listener.heard:
        raise ConfigError(f"max_steps={config.max_steps} is too short to measure anything; use more steps.")
    return Equilibrium(*(mean(values) for values in zip(*listener.heard, strict=True)))


def tabulate(found: list[Calibration]) -> Table:
    table = Table("fold", box=box.SIMPLE_HEAD)
    for name in ("l_FM", "l_SFM", "l_Phi", "lambda_u", "bound of lambda_Phi"):
        table.add_column(name, justify="right")
    for fold, each in enumerate(found):
        table.add_row(str(fold), *("-" if value is None else f"{value:.3g}" for value in each))
    return table


if __name__ == "__main__":
    run_command(main)
