import faulthandler
import os
import signal
import time

import pytest
import torch

from smoothpl.run.trial import TrialError, tried


def stopped() -> None:
    faulthandler.disable()
    os.kill(os.getpid(), signal.SIGILL)


def too_long() -> None:
    time.sleep(60)


def failing() -> None:
    raise NotImplementedError("no kernel for this\nand a long story")


def answer_with_threads() -> tuple[int, int]:
    return os.getpid(), torch.get_num_threads()


def test_a_trial_answers_from_a_process_of_its_own_with_one_thread() -> None:
    process, threads = tried(answer_with_threads, 60)
    assert process != os.getpid()
    assert threads == 1


def test_an_illegal_instruction_stops_the_child_and_not_us() -> None:
    with pytest.raises(TrialError, match=r"^it stopped \(exit code -4\)$"):
        tried(stopped, 60)


def test_a_child_that_does_not_end_is_not_waited_for() -> None:
    began = time.monotonic()
    with pytest.raises(TrialError, match=r"^it had not ended after 0\.2 seconds$"):
        tried(too_long, 0.2)
    assert time.monotonic() - began < 30


def test_what_fails_in_the_child_is_named_in_one_line() -> None:
    with pytest.raises(TrialError, match=r"^it failed \(NotImplementedError: no kernel for this\)$"):
        tried(failing, 60)
