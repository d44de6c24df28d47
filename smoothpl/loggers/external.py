"""External loggers: copies of what a run logs, for other programs to show. One that fails never stops the run."""

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
"""Fields of run.json that are sent when a run ends."""


class ExternalLogger(Logger):
    """Passes everything on to a logger of Lightning. If that fails, says so once, and the run continues without it."""

    def __init__(self, logger: Logger) -> None:
        super().__init__()
        self.logger = logger
        self.failed = False

    @staticmethod
    @abstractmethod
    def check(settings: DictConfig) -> None:
        """Refuses settings that cannot work, before the run starts."""

    @abstractmethod
    def send_picture(self, name: str, pixels: np.ndarray, step: int) -> None:
        """pixels (height, width, 3) uint8."""

    @abstractmethod
    def send_summary(self, values: dict[str, Any]) -> None:
        """Sends the values of SUMMARY; nothing is sent afterwards."""

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
        """Called when a run ends, for whatever reason."""
        values = {key: getattr(record, key) for key in SUMMARY} | {"status": status}
        self.attempt(lambda: self.send_summary(values))

    def finalize(self, status: str) -> None:
        self.attempt(lambda: self.logger.finalize(status))

    def attempt(self, action: Callable[[], object]) -> None:
        if self.failed:
            return
        try:
            action()
        except Exception as error:  # no logger is worth a run
            self.failed = True
            sys.stderr.write(f"{type(self.logger).__name__} failed ({error}); the run continues without it.\n")


def external_loggers(trainer: Trainer) -> list[ExternalLogger]:
    return [logger for logger in trainer.loggers if isinstance(logger, ExternalLogger)]


def pixels_of(figure: Figure) -> np.ndarray:
    canvas = FigureCanvasAgg(figure)
    with rc_context(PLAIN):
        canvas.draw()  # type: ignore[no-untyped-call]
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()  # type: ignore[no-untyped-call]
