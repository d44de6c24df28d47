"""logger=wandb: a run in Weights & Biases, online or offline."""

import hashlib
import os
import sys
from netrc import NetrcParseError, netrc
from pathlib import Path
from typing import Any, Literal
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import urlopen

import numpy as np
import wandb
from lightning.pytorch.loggers import WandbLogger
from omegaconf import DictConfig

from smoothpl.config.data_name import data_name
from smoothpl.config.recipe import plain, recipe_digest
from smoothpl.errors import ConfigError
from smoothpl.loggers.external import ExternalLogger

PATIENCE = 5.0
"""Seconds to wait for the server before the run starts."""


class WeightsAndBiases(ExternalLogger):
    """One run of wandb, grouped by recipe, with the name of its data as job type: a sweep becomes a dashboard."""

    logger: WandbLogger

    def __init__(self, save_dir: Path, config: DictConfig, project: str, offline: bool) -> None:
        save_dir.mkdir(parents=True, exist_ok=True)
        super().__init__(
            WandbLogger(
                project=project,
                save_dir=save_dir,
                mode=choose_mode(offline),  # not offline=...: that comes too late for a session that has started
                id=hashlib.sha256(str(save_dir.resolve()).encode()).hexdigest()[:12],  # the same after a resume
                name=f"{config.method}, fold {config.fold}, seed {config.seed}",
                group=recipe_digest(config),
                job_type=data_name(config),
                tags=[config.method, data_name(config)],
                config=plain(config) | {"recipe": recipe_digest(config)},
                settings=wandb.Settings(init_timeout=30),
            )
        )

    @staticmethod
    def check(settings: DictConfig) -> None:
        if not settings.offline and not mode_is_set() and not has_key():
            raise ConfigError(
                "logger=wandb finds no API key: set WANDB_API_KEY or call `wandb login`; or use "
                "logger.wandb.offline=true, and upload the run later with `wandb sync`."
            )

    def send_picture(self, name: str, pixels: np.ndarray, step: int) -> None:
        self.logger.log_image(name, [pixels], step)

    def send_summary(self, values: dict[str, Any]) -> None:
        self.logger.experiment.summary.update(values)
        self.logger.experiment.finish(exit_code=0 if values["status"] == "finished" else 1)


def choose_mode(offline: bool) -> Literal["offline"] | None:
    if offline:
        return "offline"
    return None if mode_is_set() or is_reachable() else "offline"


def mode_is_set() -> bool:
    """Whether WANDB_MODE, wandb's own switch, asks for anything but online."""
    return os.environ.get("WANDB_MODE", "online") != "online"


def has_key() -> bool:
    """Whether environment, settings or `wandb login` provide a key; wandb itself would ask in the terminal."""
    settings = wandb.setup().settings
    if settings.api_key or settings.identity_token_file:
        return True
    host = urlsplit(settings.base_url).hostname or ""
    try:
        return netrc(os.environ.get("NETRC")).authenticators(host) is not None
    except (OSError, NetrcParseError):
        return False


def is_reachable() -> bool:
    """Whether the server answers within seconds; wandb itself would wait for minutes."""
    server = wandb.setup().settings.base_url
    try:
        urlopen(server, timeout=PATIENCE).close()
    except HTTPError:  # an answer
        return True
    except OSError as error:
        sys.stderr.write(
            f"logger=wandb cannot reach {server} ({error}): the run is kept offline; upload it later with "
            "`wandb sync`.\n"
        )
        return False
    return True
