"""Runs of a method in processes of their own: alone, killed, and two that share every step."""

import os
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from lightning.pytorch.utilities import rank_zero_only
from omegaconf import DictConfig

from smoothpl.run.training import train
from tests.support.composing import composed
from tests.support.processes import SERVER, exit_codes, free_port

TWO = ("trainer=ddp", "trainer.devices=2", "trainer.accelerator=cpu")


def train_alone(run_dir: Path, *overrides: str) -> int | None:
    """The exit code: minus the number of the signal, if one has ended it."""
    return exit_codes([process(run_dir, overrides, {})])[0]


def train_as_two(run_dir: Path, *overrides: str) -> list[int | None]:
    """As torchrun starts them: each process learns its rank from its environment."""
    port = free_port()
    return exit_codes([process(run_dir, (*overrides, *TWO), of_rank(rank, port)) for rank in range(2)])


def process(run_dir: Path, words: tuple[str, ...], environment: dict[str, str]) -> ForkServerProcess:
    return SERVER.Process(target=begin, args=(run_dir, composed(*words), os.environ | environment))


def of_rank(rank: int, port: str) -> dict[str, str]:
    names = ("RANK", "LOCAL_RANK"), ("WORLD_SIZE", "LOCAL_WORLD_SIZE"), ("GROUP_RANK", "TORCHELASTIC_RESTART_COUNT")
    values = str(rank), "2", "0"
    numbers = {name: value for group, value in zip(names, values, strict=True) for name in group}
    return numbers | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "TORCHELASTIC_RUN_ID": "test"}


def begin(run_dir: Path, config: DictConfig, environment: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    # Lightning has looked before this process was forked.
    rank_zero_only.rank = int(environment.get("RANK", "0"))  # type: ignore[attr-defined]
    train(config, run_dir)
