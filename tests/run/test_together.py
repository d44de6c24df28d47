import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing import active_children
from pathlib import Path
from threading import Thread

import pytest
import torch

from smoothpl.errors import Interruption
from smoothpl.run.together import can_fork, do_together
from smoothpl.run.training import train
from tests.support.composing import TINY, composed


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(1)
    assert not active_children()


def noting(place: Path, number: int, seconds: float = 0) -> Callable[[], None]:
    """A task that learns something, slowly if need be, and leaves what it was done by."""

    def task() -> None:
        weight = torch.ones(300, 300, requires_grad=True)
        (weight @ weight).sum().backward()  # type: ignore[no-untyped-call]
        time.sleep(seconds)
        (place / str(number)).write_text(f"{os.getpid()} {torch.get_num_threads()}")

    return task


def test_every_task_is_done_in_a_process_of_its_own_with_one_thread(tmp_path: Path) -> None:
    noting(tmp_path, 9)()  # as a run before them
    do_together([noting(tmp_path, number) for number in range(3)])
    found = [(tmp_path / str(number)).read_text().split() for number in range(3)]
    assert len({process for process, _ in found} | {str(os.getpid())}) == 4
    assert {threads for _, threads in found} == {"1"}


def test_what_fails_is_left_undone_and_nothing_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def failing() -> None:
        sys.stderr.write("nobody reads this")
        raise KeyboardInterrupt

    do_together([failing, noting(tmp_path, 1)])
    assert [path.name for path in tmp_path.iterdir()] == ["1"]
    assert capfd.readouterr() == ("", "")


def test_no_process_outlives_a_signal(tmp_path: Path) -> None:
    def asking() -> None:
        os.kill(os.getppid(), signal.SIGTERM)
        time.sleep(60)

    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Interruption, match="SIGTERM"):
        do_together([asking, noting(tmp_path, 1, seconds=60)])
    assert signal.getsignal(signal.SIGTERM) is before
    assert not any(tmp_path.iterdir())


def test_where_processes_cannot_be_forked_nothing_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = []
    thread = Thread(target=lambda: answers.append(can_fork()))
    thread.start()
    thread.join()
    assert answers == [False]  # where no signal arrives
    monkeypatch.setattr(sys, "platform", "darwin")
    do_together([noting(tmp_path, 0), noting(tmp_path, 1)])
    torch.set_num_threads(1)
    monkeypatch.undo()
    do_together([noting(tmp_path, 0), noting(tmp_path, 1)])
    assert not any(tmp_path.iterdir())


def test_runs_that_are_trained_together_learn_the_same_as_one_after_the_other(tmp_path: Path) -> None:
    config = composed(*TINY, "logger=none", "pictures=false", "callbacks.coverage=null")
    torch.set_num_threads(1)
    train(config, tmp_path / "alone")
    torch.set_num_threads(2)
    do_together([partial(train, config, tmp_path / name) for name in ("one", "other")])
    states = [torch.load(tmp_path / name / "last.ckpt", weights_only=True) for name in ("alone", "one", "other")]
    for key, value in states[0]["state_dict"].items():
        assert all(torch.equal(value, state["state_dict"][key]) for state in states[1:]), key
