"""Real processes that start at once: forked from a server that has imported torch and Lightning."""

import atexit
import io
import multiprocessing
import os
import runpy
import signal
import socket
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["tests.support.at_hand"])
ENVIRONMENT = {"COLUMNS": "80", "OMP_NUM_THREADS": "1"}
LONGEST = 120  # seconds


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


class Process:
    """A module run as python -m does it, from a directory of its own."""

    def __init__(self, module: str, *arguments: str, cwd: Path, **environment: str) -> None:
        self.output = Path(mkdtemp(prefix="smoothpl-"))
        self.process = SERVER.Process(
            target=run_module, args=(module, arguments, cwd, os.environ | ENVIRONMENT | environment, self.output)
        )
        self.process.start()
        assert self.process.pid is not None
        self.pid = self.process.pid

    def wait(self) -> Done:
        self.process.join(LONGEST)
        assert self.process.exitcode is not None, f"still running after {LONGEST} s: {self.read('stderr')}"
        return Done(self.process.exitcode, self.read("stdout"), self.read("stderr"))

    def wait_until(self, holds: Callable[[], bool]) -> None:
        patience = time.monotonic() + LONGEST
        while not holds():
            assert self.process.is_alive(), f"it has ended: {self.read('stderr')}"
            assert time.monotonic() < patience
            time.sleep(0.005)

    def send(self, which: signal.Signals) -> None:
        os.kill(self.pid, which)

    def kill(self) -> None:
        """Until it is gone. Joining it would wait for the orphans, too, that the workers of a loader become."""
        self.send(signal.SIGKILL)
        with suppress(ProcessLookupError):
            while True:
                os.kill(self.pid, 0)
                time.sleep(0.005)

    def read(self, stream: str) -> str:
        return (self.output / stream).read_text() if (self.output / stream).exists() else ""


def free_port() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


def exit_codes(processes: Sequence[BaseProcess]) -> list[int | None]:
    """Of processes that run at the same time."""
    for process in processes:
        process.start()
    for process in processes:
        process.join(LONGEST)
    return [process.exitcode for process in processes]


def run_module(module: str, arguments: tuple[str, ...], cwd: Path, environment: dict[str, str], output: Path) -> None:
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for number, name in ((1, "stdout"), (2, "stderr")):
        stream = os.open(output / name, os.O_WRONLY | os.O_CREAT)
        os.dup2(stream, number)
        setattr(sys, name, io.TextIOWrapper(os.fdopen(number, "wb", closefd=False), line_buffering=True))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the server has it ignored
    multiprocessing.set_start_method("fork", force=True)  # as it would be without a server
    warnings.simplefilter("error")
    sys.argv = [module, *arguments]
    sys.path[0] = str(cwd)
    code: int | str | None = 0
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int | str) else 0
        if isinstance(code, str):
            sys.stderr.write(f"{code}\n")
            code = 1
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    sys.exit(code)
