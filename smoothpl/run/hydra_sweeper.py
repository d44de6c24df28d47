"""Adapter: how Hydra's basic sweeper splits a grid into jobs. Hydra 1.3 has no public way to ask it."""

from collections.abc import Mapping, Sequence
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper  # the one that -m uses
from hydra.core.override_parser.overrides_parser import OverridesParser

from smoothpl.config.compose import compose_config
from smoothpl.config.overrides import is_sweep


def split_into_jobs(words: Sequence[str]) -> list[list[str]]:
    """The overrides of every job; of two words for one key, the last one counts."""
    (jobs,) = BasicSweeper.split_arguments(OverridesParser.create().parse_overrides(list(words)), max_batch_size=None)
    return jobs


def expand(overrides: Sequence[str]) -> list[list[str]]:
    """The words of every job of a multirun with these words."""
    single = [word for word in overrides if not is_sweep(word)]
    hydra = compose_config(single, with_hydra=True).hydra
    return expand_grid(hydra.sweeper.get("params") or {}, overrides)


def expand_grid(params: Mapping[str, Any], overrides: Sequence[str]) -> list[list[str]]:
    """As Hydra's own sweeper does it: the command line wins over the experiment's grid."""
    return split_into_jobs([*(f"{key}={value}" for key, value in params.items()), *overrides])
