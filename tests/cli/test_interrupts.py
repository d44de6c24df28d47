import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from smoothpl.cli.interrupts import in_one_line, interrupts_deferred


@pytest.fixture(autouse=True)
def as_in_a_terminal() -> Iterator[None]:
    """A shell starts what runs in the background with this signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted_while(work: Callable[[], None]) -> None:
    with interrupts_deferred():
        os.kill(os.getpid(), signal.SIGINT)
        work()


def test_an_interrupt_waits_until_the_end() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted_while(lambda: done.append("the rest"))
    assert done == ["the rest"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_is_not_hidden_by_an_interrupt() -> None:
    def fail() -> None:
        raise ImportError

    with pytest.raises(ImportError):
        interrupted_while(fail)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_another_thread_has_nothing_to_defer() -> None:
    def work() -> None:
        with interrupts_deferred():
            done.append(signal.getsignal(signal.SIGINT))

    done: list[object] = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [signal.default_int_handler]


def test_an_interrupt_is_one_line_and_other_errors_stay_what_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    in_one_line(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert capsys.readouterr().err == "\ninterrupted.\n"
    in_one_line(RuntimeError, RuntimeError("broken"), None)
    assert capsys.readouterr().err == "RuntimeError: broken\n"


@pytest.mark.parametrize("command", [["-m", "smoothpl.train"], ["-m", "smoothpl", "train"]])
def test_ctrl_c_while_a_command_imports_is_one_line(command: list[str]) -> None:
    """The interrupt comes from the import of Hydra, which is the first that takes long."""
    program = (
        "import runpy, sys, builtins\n"
        "real = builtins.__import__\n"
        "def broken_off(name, *rest, **more):\n"
        "    if name.startswith('hydra'):\n        raise KeyboardInterrupt\n"
        "    return real(name, *rest, **more)\n"
        "builtins.__import__ = broken_off\n"
        f"sys.argv = ['smoothpl', *{command[2:]}]\n"
        f"runpy.run_module({command[1]!r}, run_name='__main__', alter_sys=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr == "\ninterrupted.\n"
    assert done.returncode == -signal.SIGINT
