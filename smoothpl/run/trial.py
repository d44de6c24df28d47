"""A trial in a child process: what the processor cannot do stops the child, and not the run."""

from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, TypeVar

import torch

Answer = TypeVar("Answer")


class TrialError(RuntimeError):
    """A trial without an answer. The message is the end of a sentence: what the child did."""


def tried(work: Callable[[], Answer], patience: float) -> Answer:
    """What `work` answers in a process of its own, with one thread; `patience`: seconds."""
    context = get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=answer, args=(work, theirs), daemon=True)
    child.start()
    theirs.close()  # ours is at its end when the child is
    try:
        if not ours.poll(patience):
            raise TrialError(f"it had not ended after {patience:g} seconds")
        found, failure = ours.recv()
    except EOFError:
        child.join()
        raise TrialError(f"it stopped (exit code {child.exitcode})") from None
    finally:
        child.kill()
        child.join()
        ours.close()
    if failure is not None:
        raise TrialError(f"it failed ({failure})")
    good: Answer = found
    return good


def answer(work: Callable[[], Any], to: Connection) -> None:
    torch.set_num_threads(1)  # the threads of the parent were not forked with it
    try:
        to.send((work(), None))
    except Exception as error:
        to.send((None, f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"))
