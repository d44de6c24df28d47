"""logger=tensorboard: a run for `tensorboard --logdir outputs`."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from lightning.pytorch.loggers import TensorBoardLogger
from omegaconf import DictConfig

from smoothpl.config.recipe import recipe_digest
from smoothpl.errors import ConfigError
from smoothpl.layout import LOGS, TENSORBOARD
from smoothpl.loggers.external import ExternalLogger

COLUMNS = ("benchmark", "method", "threshold", "num_labels", "fold", "seed")


class TensorBoard(ExternalLogger):
    """Curves, pictures, and a row in the table of runs (HPARAMS)."""

    logger: TensorBoardLogger

    def __init__(self, save_dir: Path, config: DictConfig) -> None:
        super().__init__(TensorBoardLogger(save_dir, name=LOGS, version=TENSORBOARD, default_hp_metric=False))
        self.columns = {name: config[name] for name in COLUMNS} | {"recipe": recipe_digest(config)}

    @staticmethod
    def check(settings: DictConfig) -> None:
        if find_spec("tensorboard") is None:
            raise ConfigError("logger=tensorboard needs a package that is not installed: pip install tensorboard")

    def send_picture(self, name: str, pixels: np.ndarray, step: int) -> None:
        self.logger.experiment.add_image(name, pixels, step, dataformats="HWC")

    def send_summary(self, values: dict[str, Any]) -> None:
        numbers = {key: value for key, value in values.items() if isinstance(value, float)}
        self.logger.log_hyperparams(self.columns, numbers)
        self.logger.experiment.close()
