"""--help of smoothpl.train, the page that Hydra would print, without the second that Hydra takes; and --version."""

import sys
from importlib.metadata import version

from smoothpl.config.compose import compose_config
from smoothpl.config.overrides import CommandLine


def asks_for_help(line: CommandLine) -> bool:
    """Help, and nothing but overrides besides; with other flags it is Hydra's business."""
    return bool(line.flags) and {*line.flags} <= {"--help", "-h"}


def show_help(line: CommandLine) -> None:
    config = compose_config(line.words_to_compose, with_hydra=True)
    sys.stdout.write(f"{config.hydra.help.template}\n")


def asks_for_version(line: CommandLine) -> bool:
    return "--version" in line.flags


def show_version() -> None:
    """Ours, where Hydra would print its own."""
    sys.stdout.write(f"smoothpl {version('smoothpl')}\n")
