"""Messages to the user beside the results: on stderr, so that what goes to stdout can be piped.

Names of files and classes may come from strangers. What is printed by way of this module cannot steer a terminal.
"""

import os
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderableType, RenderHook
from rich.segment import Segment

from smoothpl.io.escapes import printable

NUM_NAMED = 5
said: set[str] = set()
"""By this process, so far."""


def inform(message: str) -> None:
    """On one line, however long: a path must survive being copied."""
    Terminal(stderr=True).print(printable(message), soft_wrap=True, markup=False, highlight=False)


def inform_once(message: str) -> None:
    """Says it once per start, however many runs of a sweep find the same; of several processes the first says it."""
    if message not in said and os.environ.get("LOCAL_RANK", "0") == "0":
        said.add(message)
        inform(message)


def say(message: str) -> None:
    """The same on stdout: the result itself, or where it was written."""
    Terminal().print(printable(message), soft_wrap=True, markup=False, highlight=False)


def first_few(names: Sequence[str]) -> str:
    """The first names, and dots where there are more."""
    return ", ".join(names[:NUM_NAMED]) + (", ..." if len(names) > NUM_NAMED else "")


def counted(number: int, one: str, several: str) -> str:
    """1 file, 2 files."""
    return f"{number:,} {one if number == 1 else several}"


class Terminal(Console):
    """Rich's console for texts and tables that hold names: they are printed and never obeyed."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.push_render_hook(Harmless())


class Harmless(RenderHook):
    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [Escaped(each) for each in renderables]


class Escaped:
    """Anything that Rich can print, with escapes; Rich's own colours and movements stay."""

    def __init__(self, shown: RenderableType) -> None:
        self.shown = shown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Segment]:
        for segment in console.render(self.shown, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)
