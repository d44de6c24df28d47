"""Ctrl-C at any moment: one line that is true, and no traceback."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import TracebackType


def answer_interrupts() -> None:
    """Called first of all, so that the imports of a command are covered, too."""
    sys.excepthook = in_one_line


def in_one_line(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.stderr.write("\ninterrupted.\n")
    else:
        sys.__excepthook__(kind, error, trace)


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """For imports: a library whose import was broken off cannot be imported again, and whoever tries says so."""
    if current_thread() is not main_thread():  # where signals never arrive
        yield
        return
    asked: list[int] = []

    earlier = signal.signal(signal.SIGINT, lambda number, _: asked.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, earlier)
    if asked:
        raise KeyboardInterrupt
