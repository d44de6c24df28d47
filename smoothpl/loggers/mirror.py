"""Mirrors: others who show what a run logs. Record and curves are the run's own; a mirror that breaks is let go."""

import sys
from abc import abstractmethod
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import numpy as np
from lightning import Trainer
from lightning.pytorch.loggers import Logger
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from omegaconf import DictConfig

from smoothpl.plots.style import PLAIN
from smoothpl.record.record import Record

SUMMARY = ("status", "error", "error_best", "error_median20", "error_gap", "calibration_error", "collapsed", "duration")
"""What is told of a finished run, by the names that run.json has for it."""


class Mirror(Logger):
    """Hands everything on to another logger, until that fails: then says so, once, and the run goes on without it."""

    def __init__(self, logger: Logger) -> None:
        super().__init__()
        self.logger = logger
        self.lost = False

    @staticmethod
    @abstractmethod
    def check(settings: DictConfig) -> None:
        """Refuses what cannot work, before any work is done."""

    @abstractmethod
    def send_picture(self, name: str, pixels: np.ndarray, step: int) -> None:
        """pixels (height, width, 3) uint8."""

    @abstractmethod
    def send_summary(self, values: dict[str, Any]) -> None:
        """The end of a run."""

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

    def log_picture(self, name: str, figure: Figure, step: int) -> None:
        self.attempt(lambda: self.send_picture(name, pixels_of(figure), step))

    def summarise(self, record: Record, status: str) -> None:
        """The end of a run, of whatever kind."""
        values = {key: getattr(record, key) for key in SUMMARY} | {"status": status}
        self.attempt(lambda: self.send_summary(values))

    def finalize(self, status: str) -> None:
        self.attempt(lambda: self.logger.finalize(status))

    def attempt(self, action: Callable[[], object]) -> None:
        if self.lost:
            return
        try:
            action()
        except Exception as error:  # whatever it is, it is not worth a run
            self.lost = True
            sys.stderr.write(f"{type(self.logger).__name__} is lost ({error}); the run goes on without it.\n")


def mirrors_of(trainer: Trainer) -> list[Mirror]:
    return [logger for logger in trainer.loggers if isinstance(logger, Mirror)]


def pixels_of(figure: Figure) -> np.ndarray:
    canvas = FigureCanvasAgg(figure)
    with rc_context(PLAIN):
        canvas.draw()  # type: ignore[no-untyped-call]
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()  # type: ignore[no-untyped-call]
