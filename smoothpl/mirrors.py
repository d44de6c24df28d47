"""Mirrors: others who show what a run logs. Record and curves are the run's own; a mirror that breaks is let go."""

import hashlib
import os
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lightning.pytorch.loggers import Logger, WandbLogger
from omegaconf import DictConfig

from smoothpl.errors import ConfigError
from smoothpl.recipe import plain, recipe_digest
from smoothpl.results.record import Record

SUMMARY = ("status", "error", "error_best", "error_median20", "error_gap", "calibration_error", "collapsed", "duration")


class Mirror(Logger):
    """Hands everything on to another logger, until that fails: then says so, once, and the run goes on without it."""

    def __init__(self, logger: Logger) -> None:
        super().__init__()
        self.logger = logger
        self.lost = False

    @property
    def name(self) -> str | None:
        return self.logger.name

    @property
    def version(self) -> int | str | None:
        return self.logger.version

    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        self.attempt(lambda: self.logger.log_metrics(metrics, step))

    def log_hyperparams(self, params: dict[str, Any] | Namespace, *args: Any, **kwargs: Any) -> None:
        self.attempt(lambda: self.logger.log_hyperparams(params, *args, **kwargs))

    def finalize(self, status: str) -> None:
        self.attempt(lambda: self.logger.finalize(status))

    def summarise(self, record: Record) -> None:
        """The same keys as in run.json."""
        if isinstance(self.logger, WandbLogger):
            self.attempt(lambda: finish(self.logger.experiment, record))  # type: ignore[attr-defined]

    def attempt(self, action: Callable[[], object]) -> None:
        if self.lost:
            return
        try:
            action()
        except Exception as error:  # whatever it is, it is not worth a run
            self.lost = True
            sys.stderr.write(f"{type(self.logger).__name__} is lost ({error}); the run goes on without it.\n")


def finish(run: Any, record: Record) -> None:
    run.summary.update({key: getattr(record, key) for key in SUMMARY})
    run.finish()


def wandb(save_dir: Path, config: DictConfig, project: str, offline: bool) -> Mirror:
    """Group, job type and columns that make a sweep a dashboard: a group is a recipe, a job type a benchmark."""
    save_dir.mkdir(parents=True, exist_ok=True)
    logger = WandbLogger(
        project=project,
        save_dir=save_dir,
        offline=offline,
        id=hashlib.sha256(str(save_dir.resolve()).encode()).hexdigest()[:12],  # the same after a resume
        name=f"{config.method}, fold {config.fold}, seed {config.seed}",
        group=recipe_digest(config),
        job_type=config.benchmark,
        tags=[config.method, config.benchmark],
        config=plain(config),
    )
    return Mirror(logger)


def check_mirror(config: DictConfig) -> None:
    """Before any work is done, and without asking the network."""
    if config.logger is None or not config.logger._target_.endswith("mirrors.wandb") or config.logger.offline:
        return
    import wandb

    if os.environ.get("WANDB_MODE") != "offline" and not os.environ.get("WANDB_API_KEY") and not wandb.api.api_key:
        raise ConfigError(
            "logger=wandb finds no key: set WANDB_API_KEY or call `wandb login`; or use logger.offline=true, and send "
            "the run later with `wandb sync`."
        )
