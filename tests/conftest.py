"""What every test shares: one thread, markers by what a test needs, and a word on what was skipped."""

import os

# Two workers share the machine: threads of the one would wait busily on the cores of the other. Set before torch is
# imported, and inherited by all processes that tests start.
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

import ast
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from multiprocessing.util import Finalize
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
import torch

from tests.support.lives import outcome, run

STARTS_PROCESSES = {"multiprocessing", "nbclient", "playwright", "subprocess"}
SUPPORT = "tests.support"
SLOW = {
    "tests/benchmarks/test_parts.py",
    "tests/callbacks/test_ema.py",
    "tests/commands/test_methods.py",
    "tests/config/test_conf.py",
    "tests/data/sets/test_cifar.py",
    "tests/inference/test_formats.py",
    "tests/pseudo/test_smoothness.py",
    "tests/run/test_methods.py",
    "tests/test_docs.py",
    "tests/run/test_training.py",
}
"""Files that take longest without starting processes: `make check` leaves them out, `make test` does not."""


def pytest_configure(config: pytest.Config) -> None:
    assert all((config.rootpath / name).is_file() for name in SLOW)
    config.addinivalue_line("markers", "processes: the test's file starts processes; `make check` leaves it out")
    config.addinivalue_line("markers", "slow: the test's file takes long; `make check` leaves it out")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if starts_processes(item.path) or "alone" in getattr(item, "fixturenames", ()):
            item.add_marker("processes")
        if item.path.relative_to(config.rootpath).as_posix() in SLOW:
            item.add_marker("slow")


@cache
def starts_processes(path: Path) -> bool:
    """Whether a file imports what starts processes, itself or by way of tests/support."""
    names = imported_names(ast.parse(path.read_text()))
    supports = [find_spec(name) for name in names if name.startswith(f"{SUPPORT}.")]
    return bool(names & STARTS_PROCESSES) or any(
        starts_processes(Path(each.origin)) for each in supports if each is not None and each.origin is not None
    )


def imported_names(tree: ast.Module) -> set[str]:
    """Modules by their full names; of others, the first part of the name, too."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names if node.module == SUPPORT)}
    return names | {name.partition(".")[0] for name in names}


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line for every reason to skip, with the number of tests."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.stats.get("skipped", [])
    )
    for reason, number in sorted(reasons.items()):
        terminalreporter.write_line(f"skipped {number} {'test' if number == 1 else 'tests'}: {reason}")


@pytest.fixture(scope="session", autouse=True)
def own_temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests, and the processes that they start or kill, leave in the temporary folder is removed at the end.

    Not below pytest's own folder: the paths of sockets must be short. And not before the server that processes are
    forked from has removed its own part of it, at priority -100.
    """
    tmp_path_factory.getbasetemp()  # which stays where it is: somebody may want to see what a failed test has left
    place = mkdtemp(prefix="smoothpl-tests-")
    Finalize(None, shutil.rmtree, (place,), {"ignore_errors": True}, exitpriority=-200)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", place)
        patch.setattr(tempfile, "tempdir", place)
        yield


@pytest.fixture(autouse=True)
def one_thread_and_one_seed() -> None:
    """Tests run side by side, and none may depend on what ran before it."""
    torch.set_num_threads(1)
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def no_switch_left_behind() -> Iterator[None]:
    """run_command sets it for its process, which here is that of all tests."""
    yield
    os.environ.pop("HYDRA_FULL_ERROR", None)


@pytest.fixture(scope="session")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The outcome of an uninterrupted run, by its knobs."""
    known: dict[tuple[str, ...], Any] = {}

    def outcome_of(*knobs: str) -> Any:
        if knobs not in known:
            run_dir = tmp_path_factory.mktemp("alone") / "run"
            assert run(run_dir, *knobs).returncode == 0
            known[knobs] = outcome(run_dir)
        return known[knobs]

    return outcome_of
