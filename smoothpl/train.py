"""python -m smoothpl.train: the story of a run, from knobs to record."""

import logging
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from smoothpl.checks import check
from smoothpl.cli import explain, run_command
from smoothpl.config import conf_dir, register
from smoothpl.recipe import recipe_name

if TYPE_CHECKING:  # torch and Lightning are imported late: saying no to a typo must not take seconds
    from smoothpl.results.record import Record

register()


def train(config: DictConfig, run_dir: Path, name: str) -> "Record":
    """Builds the parts, fits, evaluates the averaged network on the whole test set, and leaves a record."""
    logging.getLogger("matplotlib").setLevel(logging.WARNING)  # its greeting at the very first import
    from lightning import seed_everything

    from smoothpl.build import build_data, build_module, build_trainer
    from smoothpl.callbacks import Recorder
    from smoothpl.results.record import open_record

    quiet_libraries()
    seed_everything(config.seed, verbose=False)  # the initial weights; all else has generators of its own
    module = build_module(config)
    data = build_data(config)
    with open_record(run_dir, config, name) as record:
        if config.unlabeled_weight == "auto":
            module.unlabeled_weight = measure_unlabeled_weight(config, record)
        trainer = build_trainer(config, run_dir, Recorder(record, run_dir))
        trainer.fit(module, datamodule=data)
        trainer.save_checkpoint(run_dir / "last.ckpt")
        if not record.history or record.history[-1].step < trainer.global_step:
            trainer.validate(module, datamodule=data, verbose=False)
    return record


def measure_unlabeled_weight(config: DictConfig, record: "Record") -> float:
    from rich.console import Console

    from smoothpl.calibrate import calibrate

    Console().print("measuring the unlabeled weight in two short runs:")
    calibration = calibrate(config)
    record.calibration = calibration._asdict()
    return calibration.unlabeled_weight


def quiet_libraries() -> None:
    """Silences what the user cannot act on."""
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", message=".*LeafSpec.* is deprecated")  # between Lightning 2.6 and torch
    warnings.filterwarnings("ignore", message=".*smaller than the logging interval")  # the module sees to that
    # Steps are made in the main process on purpose: for small images it is faster than handing them over.
    warnings.filterwarnings("ignore", message=".*does not have many workers.*")


def remove_if_empty(run_dir: Path) -> None:
    """Leaves no directories behind when nothing was begun: Hydra makes them before it asks us."""
    with suppress(OSError):  # not empty: something was begun
        while run_dir.is_relative_to(Path.cwd()) and run_dir != Path.cwd():
            run_dir.rmdir()
            run_dir = run_dir.parent


@hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="train")
def hydra_main(config: DictConfig) -> float | None:
    run = HydraConfig.get()
    run_dir = Path(run.runtime.output_dir)
    try:
        check(config, run.overrides.task)
        record = train(config, run_dir, recipe_name(config, run.job.override_dirname))
    except BaseException as error:
        remove_if_empty(run_dir)
        if run.mode == RunMode.MULTIRUN and isinstance(
            error, Exception
        ):  # Hydra raises the first error of a sweep at its end, and drops the others
            sys.stderr.write(f"job {run.job.num} failed: {explain(error)}\n")
        if run_dir.exists() and not isinstance(error, Exception):  # Ctrl-C, which Lightning turns into an exit
            sys.exit(f"interrupted; what was known by then is in {run_dir / 'run.json'}")
        raise
    from smoothpl.results.summary import print_summary

    print_summary(record, run_dir)
    return record.error


if __name__ == "__main__":
    run_command(hydra_main)
