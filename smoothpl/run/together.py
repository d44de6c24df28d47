"""Several short runs at the same time, each in a process of its own with one thread.

A step of a head is too small for two threads to share. Whatever a process leaves undone, for whatever reason, is left
to the caller: so nothing is handed back, and nothing that fails here is told.
"""

import ctypes
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import wait
from threading import current_thread, main_thread
from types import FrameType
from typing import Any

import torch

from smoothpl.callbacks.checkpointer import ASKING_TO_STOP
from smoothpl.errors import Interruption

PATIENCE = 0.1
"""Seconds between two looks at whether somebody has asked to stop."""
WITH_PARENT = 1
"""Of prctl: a signal when the parent dies."""


def do_together(tasks: Sequence[Callable[[], object]]) -> None:
    """As many at a time as this process has threads; none where a process that has trained cannot be forked."""
    waiting, running = [*tasks], dict[int, Any]()
    if not can_fork() or len(tasks) < 2:
        return
    with signals_noted() as asked:
        try:
            while waiting or running:
                while waiting and len(running) < torch.get_num_threads():
                    process = started(waiting.pop(0))
                    running[process.sentinel] = process
                for sentinel in wait([*running], PATIENCE):
                    assert isinstance(sentinel, int)
                    running.pop(sentinel).join()
                if asked:
                    raise Interruption(asked[0].name)
        finally:
            for process in running.values():
                process.kill()
                process.join()


def can_fork() -> bool:
    """A GPU does not outlive a fork, nor do libraries of other systems; and signals arrive in the main thread only."""
    is_main = current_thread() is main_thread()
    return sys.platform == "linux" and is_main and not torch.accelerator.is_available() and torch.get_num_threads() > 1


def started(task: Callable[[], object]) -> Any:
    process = get_context("fork").Process(target=do_quietly, args=(task, os.getpid()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads, which are not used there
        process.start()
    return process


def do_quietly(task: Callable[[], object], parent: int) -> None:
    """In the new process. It ends with its parent, also if that is killed."""
    ctypes.CDLL(None).prctl(WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:  # which has died already
        os._exit(1)
    for which in ASKING_TO_STOP:
        signal.signal(which, signal.SIG_DFL)
    torch.set_num_threads(1)  # the threads of the parent were not forked with it
    warnings.simplefilter("ignore")
    with open(os.devnull, "w") as nowhere, suppress(BaseException):
        sys.stdout = sys.stderr = nowhere
        task()
        os._exit(0)
    os._exit(1)


@contextmanager
def signals_noted() -> Iterator[list[signal.Signals]]:
    """Noted, not raised: in the middle of a fork an exception would be lost."""
    asked: list[signal.Signals] = []

    def note(number: int, _: FrameType | None) -> None:
        asked.append(signal.Signals(number))

    earlier = {which: signal.signal(which, note) for which in ASKING_TO_STOP}
    try:
        yield asked
    finally:
        for which, handler in earlier.items():
            signal.signal(which, handler)


@contextmanager
def one_thread() -> Iterator[None]:
    """For what could have been done in a process of its own: so it comes out the same, to the bit."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
