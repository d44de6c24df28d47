"""Arguments of the commands beside training: a few options of their own, and knobs or places."""

import sys
from collections.abc import Sequence
from typing import NamedTuple

from smoothpl.errors import require


class Arguments(NamedTuple):
    """The options that a command has itself, and everything else that was typed."""

    options: dict[str, str]
    rest: list[str]

    def flag(self, name: str) -> bool:
        value = self.options.get(name, "false").lower()
        require(value in ("true", "false"), f"{name}={self.options.get(name)} must be true or false.")
        return value == "true"

    def number(self, name: str, default: int) -> int:
        text = self.options.get(name, str(default))
        require(text.isdecimal() and int(text) > 0, f"{name}={text} must be a positive whole number.")
        return int(text)


def read_arguments(typed: Sequence[str], usage: str, *options: str) -> Arguments:
    """`--help` prints `usage` and ends."""
    if "--help" in typed or "-h" in typed:
        sys.stdout.write(f"{usage}\n")
        sys.exit(0)
    own = [word for word in typed if word.partition("=")[0] in options and "=" in word]
    return Arguments(dict(word.split("=", 1) for word in own), [word for word in typed if word not in own])


def read_options(typed: Sequence[str], usage: str, *options: str, needed: Sequence[str] = ()) -> Arguments:
    """For a command that takes nothing but its own options, some of which it cannot do without."""
    arguments = read_arguments(typed, usage, *options)
    require(
        not arguments.rest,
        f"{arguments.rest[0] if arguments.rest else ''} is not an option of this command; its options are "
        f"{', '.join(f'{name}=' for name in options) or 'none'} (--help says more).",
    )
    missing = [f"{name}=..." for name in needed if name not in arguments.options]
    require(not missing, f"{' and '.join(missing)} must be given; --help says more.")
    return arguments
