"""Adapter: how Hydra's basic sweeper splits a grid into jobs. Hydra 1.3 has no public way to ask it."""

from collections.abc import Sequence

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper  # the one that -m uses
from hydra.core.override_parser.overrides_parser import OverridesParser


def split_into_jobs(words: Sequence[str]) -> list[list[str]]:
    """The overrides of every job; of two words for one key, the last one counts."""
    (jobs,) = BasicSweeper.split_arguments(OverridesParser.create().parse_overrides(list(words)), max_batch_size=None)
    return jobs
