"""For commands beside smoothpl.train: its knobs, and a few words of their own."""

import sys
from collections.abc import Sequence

from hydra import compose, initialize_config_dir
from omegaconf import DictConfig
from rich.console import Console

from smoothpl.config.checks import check
from smoothpl.config.folder_defaults import with_choices
from smoothpl.config.knobs import conf_dir
from smoothpl.config.resolvers import register
from smoothpl.errors import require


def read_command_line(usage: str, *own: str) -> tuple[DictConfig, dict[str, str]]:
    """The composed and checked configuration, and what was said of the command's `own` words (out=...)."""
    overrides, words = read_words(usage, *own)
    return compose_checked(overrides), words


def read_words(usage: str, *own: str) -> tuple[list[str], dict[str, str]]:
    """Overrides of knobs, and the command's own words; --help prints `usage` and ends."""
    arguments = sys.argv[1:]
    if "--help" in arguments or "-h" in arguments:
        Console().print(usage, markup=False, highlight=False)
        sys.exit(0)
    words = dict(argument.split("=", 1) for argument in arguments if argument.split("=")[0] in own)
    return [argument for argument in arguments if argument.split("=")[0] not in own], words


def read_own_words(usage: str, *own: str) -> dict[str, str]:
    """For a command that has no other words than its own."""
    others, words = read_words(usage, *own)
    require(not others, f"{others[0] if others else ''} is not a word of this command; --help shows how it is called.")
    return words


def flag(words: dict[str, str], name: str) -> bool:
    value = words.get(name, "false").lower()
    require(value in ("true", "false"), f"{name}={words.get(name)} must be true or false.")
    return value == "true"


def compose_checked(overrides: Sequence[str]) -> DictConfig:
    register()
    overrides = with_choices(overrides)
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        config = compose("train", overrides=list(overrides))
    check(config, overrides)
    return config
