"""External loggers to test with."""

from typing import Any

import numpy as np
from lightning.pytorch.loggers import Logger
from omegaconf import DictConfig

from smoothpl.loggers import ExternalLogger


class Fragile(Logger):
    """Fails when it gets hyperparameters."""

    name = version = "fragile"

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[int | None] = []

    def log_hyperparams(self, *_: object, **__: object) -> None:
        raise ConnectionError("no network")

    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        self.steps.append(step)


class Wall(ExternalLogger):
    """Keeps the names of the pictures that it gets, and the summary."""

    def __init__(self) -> None:
        super().__init__(Fragile())
        self.pictures: list[tuple[str, int]] = []
        self.summary: dict[str, Any] = {}

    @staticmethod
    def check(settings: DictConfig) -> None: ...

    def send_picture(self, name: str, pixels: np.ndarray, step: int) -> None:
        assert pixels.dtype == np.uint8
        assert pixels.shape[2] == 3
        self.pictures.append((name, step))

    def send_summary(self, values: dict[str, Any]) -> None:
        self.summary = values
