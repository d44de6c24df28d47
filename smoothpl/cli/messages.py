"""Messages to the user beside the results: on stderr, so that what goes to stdout can be piped."""

from collections.abc import Sequence

from rich.console import Console

NUM_NAMED = 5


def inform(message: str) -> None:
    """On one line, however long: a path must survive being copied."""
    Console(stderr=True).print(message, soft_wrap=True, markup=False, highlight=False)


def say(message: str) -> None:
    """The same on stdout: the result itself, or where it was written."""
    Console().print(message, soft_wrap=True, markup=False, highlight=False)


def first_few(names: Sequence[str]) -> str:
    """The first names, and dots where there are more."""
    return ", ".join(names[:NUM_NAMED]) + (", ..." if len(names) > NUM_NAMED else "")
