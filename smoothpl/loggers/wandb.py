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

from smoothpl.config.recipe import plain, recipe_digest
from smoothpl.errors import ConfigError
from smoothpl.loggers.mirror import Mirror

PATIENCE = 5.0
"""Seconds to wait for the server, before any work is done."""


class WandbMirror(Mirror):
    """Group, job type and columns that make a sweep a dashboard: a group is a recipe, a job type a benchmark."""

    logger: WandbLogger

    def __init__(self, save_dir: Path, config: DictConfig, project: str, offline: bool) -> None:
        save_dir.mkdir(parents=True, exist_ok=True)
        super().__init__(
            WandbLogger(
                project=project,
                save_dir=save_dir,
                mode=choose_mode(offline),  # not offline=...: that comes too late for a session that has begun
                id=hashlib.sha256(str(save_dir.resolve()).encode()).hexdigest()[:12],  # the same after a resume
                name=f"{config.method}, fold {config.fold}, seed {config.seed}",
                group=recipe_digest(config),
                job_type=config.benchmark,
                tags=[config.method, config.benchmark],
                config=plain(config) | {"recipe": recipe_digest(config)},
                settings=wandb.Settings(init_timeout=30),
            )
        )

    @staticmethod
    def check(settings: DictConfig) -> None:
        if not settings.offline and not said_mode() and not has_key():
            raise ConfigError(
                "logger=wandb finds no key: set WANDB_API_KEY or call `wandb login`; or use logger.wandb.offline=true, "
                "and send the run later with `wandb sync`."
            )

    def send_picture(self, name: str, pixels: np.ndarray, step: int) -> None:
        self.logger.log_image(name, [pixels], step)

    def send_summary(self, values: dict[str, Any]) -> None:
        self.logger.experiment.summary.update(values)
        self.logger.experiment.finish(exit_code=0 if values["status"] == "finished" else 1)


def choose_mode(offline: bool) -> Literal["offline"] | None:
    if offline:
        return "offline"
    return None if said_mode() or is_reachable() else "offline"


def said_mode() -> bool:
    """wandb's own switch: whoever uses it knows what they want."""
    return os.environ.get("WANDB_MODE", "online") != "online"


def has_key() -> bool:
    """From the environment, the settings, or where `wandb login` puts it; wandb itself would ask in the terminal."""
    settings = wandb.setup().settings
    if settings.api_key or settings.identity_token_file:
        return True
    host = urlsplit(settings.base_url).hostname or ""
    try:
        return netrc(os.environ.get("NETRC")).authenticators(host) is not None
    except (OSError, NetrcParseError):
        return False


def is_reachable() -> bool:
    """Asks the server for anything at all. wandb itself would wait for it for minutes."""
    server = wandb.setup().settings.base_url
    try:
        urlopen(server, timeout=PATIENCE).close()
    except HTTPError:  # an answer
        return True
    except OSError as error:
        sys.stderr.write(
            f"logger=wandb cannot reach {server} ({error}): the run is kept offline; send it later with `wandb sync`.\n"
        )
        return False
    return True
