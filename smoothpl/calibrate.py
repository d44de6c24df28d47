"""python -m smoothpl.calibrate: the unlabeled weight that puts a smooth method on a level with FixMatch, measured."""

import sys
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

from omegaconf import DictConfig
from rich import box
from rich.console import Console
from rich.table import Table

from smoothpl.cli import run_command
from smoothpl.errors import ConfigError
from smoothpl.looking import compose_checked, read_words

if TYPE_CHECKING:
    from lightning import LightningModule, Trainer

USAGE = """python -m smoothpl.calibrate [knob=value ...] [folds=3] [steps=...]

Trains FixMatch and the smooth method on the same folds, both with an unlabeled
weight of 1, without ever looking at the test set, and prints what the paper's
appendix calls equilibrium values: the unlabeled losses l_FM and l_SFM and the
mean weight l_Phi, over the second half of the steps; from these lambda_u, and
the bound below which the factor loss may help:
  python -m smoothpl.calibrate benchmark=digits_40
  python -m smoothpl.calibrate benchmark=cifar10_40 shape=sqrt threshold=0.98
                               steps=5000 folds=1"""
OF_SMOOTH = ("method", "shape", "threshold", "score", "unlabeled_weight", "fold", "max_steps")


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
    factor_bound: float


def calibrated(fixmatch: Equilibrium, smooth: Equilibrium, threshold: float) -> Calibration:
    """lambda_FM l_FM = lambda_SFM l_Phi l_SFM with lambda_FM = 1, and lambda_Phi-bar = (1 - tau) lambda_u / l_SFM."""
    if not min(*fixmatch, *smooth) > 0:
        raise ConfigError("hardly a pseudo-label counted yet, so that there is nothing to compare; use more steps.")
    l_sfm = smooth.unlabeled_loss / smooth.weight
    unlabeled_weight = fixmatch.unlabeled_loss / (smooth.weight * l_sfm)
    return Calibration(
        fixmatch.unlabeled_loss, l_sfm, smooth.weight, unlabeled_weight, (1 - threshold) * unlabeled_weight / l_sfm
    )


def main() -> None:
    knobs, words = read_words(USAGE, "folds", "steps")
    console = Console()
    folds = whole(words.get("folds", "3"), "folds")
    steps = [f"max_steps={whole(words['steps'], 'steps')}"] if "steps" in words else []
    of_both = [each for each in knobs if each.split("=")[0] not in OF_SMOOTH]
    of_smooth = [each for each in knobs if not each.startswith("unlabeled_weight=")]
    if not any(each.startswith("method=") for each in knobs):
        of_smooth.append("method=smooth")

    found = []
    for fold in range(folds):
        same = [f"fold={fold}", *steps]
        smooth = compose_checked([*of_smooth, "unlabeled_weight=1", *same])
        fixmatch = compose_checked([*of_both, "method=fixmatch", *same])
        if smooth.threshold is None:
            raise ConfigError("calibrate needs a smooth method with a threshold, such as method=smooth.")
        console.print(f"fold {fold}: two runs of {smooth.max_steps} steps ...", highlight=False)
        found.append(calibrated(measure(fixmatch), measure(smooth), smooth.threshold))
    console.print(tabulate(found))
    console.print(f"# python -m smoothpl.calibrate {' '.join(sys.argv[1:])}", soft_wrap=True, highlight=False)
    console.print(f"smooth_unlabeled_weight: {mean(each.unlabeled_weight for each in found):.2f}", highlight=False)
    bound = mean(each.factor_bound for each in found)
    console.print(f"# a factor_weight that helps is below {bound:.2g}", highlight=False)


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
        table.add_row(str(fold), *(f"{value:.3g}" for value in each))
    return table


if __name__ == "__main__":
    run_command(main)
