"""The grid of a sweep: the jobs that a multirun consists of, and what has become of each so far."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from omegaconf import DictConfig

from smoothpl.config.compose import compose_checked
from smoothpl.config.overrides import CommandLine
from smoothpl.layout import OUTPUTS
from smoothpl.run.command_line import complete
from smoothpl.run.hydra_sweeper import expand
from smoothpl.run.resume import find_same


class Job(NamedTuple):
    words: list[str]
    config: DictConfig
    status: str  # of the run that was made of it; empty if there is none


def list_jobs(overrides: Sequence[str]) -> list[Job]:
    """With what a folder chooses, which is the same for all of them."""
    return [make_job(words) for words in expand(complete(CommandLine.parse(overrides)).line.words_to_compose)]


def make_job(words: list[str]) -> Job:
    config = compose_checked(words)
    found = find_same(config, Path(OUTPUTS))
    return Job(words, config, "" if found is None else found[0].status)
