"""For commands that look and do not train: the knobs of smoothpl.train, and a few words of their own."""

import sys

from hydra import compose, initialize_config_dir
from omegaconf import DictConfig
from rich.console import Console

from smoothpl.checks import check
from smoothpl.config import conf_dir, register


def read_command_line(usage: str, *own: str) -> tuple[DictConfig, dict[str, str]]:
    """The composed and checked configuration, and what was said of the command's `own` words (out=...)."""
    arguments = sys.argv[1:]
    if "--help" in arguments or "-h" in arguments:
        Console().print(usage, markup=False, highlight=False)
        sys.exit(0)
    words = dict(argument.split("=", 1) for argument in arguments if argument.split("=")[0] in own)
    overrides = [argument for argument in arguments if argument.split("=")[0] not in own]
    register()
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        config = compose("train", overrides=overrides)
    check(config, overrides)
    return config, words
