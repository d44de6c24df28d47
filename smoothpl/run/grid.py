"""The grid of a sweep: the jobs that a multirun consists of, and what has become of each so far."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from omegaconf import DictConfig

from smoothpl.config.compose import compose_checked, compose_config
from smoothpl.config.overrides import CommandLine, is_sweep
from smoothpl.layout import OUTPUTS
from smoothpl.run.command_line import complete
from smoothpl.run.hydra_sweeper import split_into_jobs
from smoothpl.run.resume import find_same


class Job(NamedTuple):
    words: list[str]
    config: DictConfig
    status: str  # of the run that was made of it; empty if there is none


def list_jobs(overrides: Sequence[str]) -> list[Job]:
    """With what a folder chooses, which is the same for all of them."""
    return [make_job(words) for words in expand(complete(CommandLine.parse(overrides)).line.words_to_compose)]


def expand(overrides: Sequence[str]) -> list[list[str]]:
    """The words of every job of a multirun with these words."""
    single = [word for word in overrides if not is_sweep(word)]
    hydra = compose_config(single, with_hydra=True).hydra
    return expand_grid(hydra.sweeper.get("params") or {}, overrides)


def expand_grid(params: Mapping[str, Any], overrides: Sequence[str]) -> list[list[str]]:
    """As Hydra's own sweeper does it: the command line wins over the experiment's grid."""
    return split_into_jobs([*(f"{key}={value}" for key, value in params.items()), *overrides])


def make_job(words: list[str]) -> Job:
    config = compose_checked(words)
    found = find_same(config, Path(OUTPUTS))
    return Job(words, config, "" if found is None else found[0].status)
