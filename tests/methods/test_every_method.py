"""Whatever a method is made of: a killed run ends as one left alone, two processes learn what one does, parts of a step
make the whole or are refused."""

import signal
from functools import partial
from pathlib import Path

import pytest
import torch

from smoothpl.errors import ConfigError
from smoothpl.run.build import build_module
from tests.support.composing import TINY, composed, options
from tests.support.lives import differences, killer, outcome
from tests.support.method_checks import assert_parts_make_the_whole
from tests.support.method_lives import train_alone, train_as_two

LIVE = {
    "adsh": ("policy.refresh_every=2",),
    "darp": ("refine.ledger_alignment.start=0", "refine.ledger_alignment.every=2"),
    "dst": ("terms.worst_case.warm_up_steps=4",),
    "saw": ("balance.refresh_every=2",),
    "stoco": ("teacher.draws=2",),
}
"""What makes the memory of a method matter within six steps."""
SHORT = ("max_steps=6", "eval_every=3", "batch_size=8", "pictures=false")
CALM = ("optim.learning_rate=0.0001",)
"""Sums in another order differ in their last bits, and at the usual learning rate such differences multiply."""
CLOSE = 1e-4


def words_of(method: str) -> tuple[str, ...]:
    """A threshold, where it has one, below which nearly nothing lies."""
    words = (f"method={method}", *TINY, *SHORT, *LIVE.get(method, ()))
    has_threshold = composed(*words).threshold is not None and "supervised" not in method
    return (*words, "threshold=0.15") if has_threshold else words


@pytest.mark.processes
@pytest.mark.parametrize("method", options("method"))
def test_a_killed_run_ends_as_if_it_had_been_left_alone(tmp_path: Path, method: str) -> None:
    words, killed = words_of(method), tmp_path / "killed"
    assert train_alone(tmp_path / "whole", *words) == 0
    assert train_alone(killed, *words, killer("after optimiser", 5)) == -signal.SIGKILL
    assert train_alone(killed, *words, f"resume={killed}", "resume_allow=[callbacks]") == 0
    assert differences(outcome(killed), outcome(tmp_path / "whole")) == []


@pytest.mark.processes
@pytest.mark.parametrize("method", options("method"))
def test_two_processes_learn_what_one_does(tmp_path: Path, method: str) -> None:
    words = (*words_of(method), *CALM)
    assert train_alone(tmp_path / "one", *words) == 0
    assert train_as_two(tmp_path / "two", *words) == [0, 0]
    one, two = (torch.load(tmp_path / name / "last.ckpt", weights_only=True)["state_dict"] for name in ("one", "two"))
    assert one.keys() == two.keys()
    for name, value in one.items():
        torch.testing.assert_close(two[name], value, rtol=CLOSE, atol=CLOSE, msg=partial("{}: {}".format, name))


@pytest.mark.parametrize("method", [name for name in options("method") if "supervised" not in name])
def test_parts_of_a_step_make_the_whole_or_are_refused(method: str) -> None:
    words = words_of(method)
    refused = refusal(*words, "accumulate=2")
    if refused is None:
        assert_parts_make_the_whole(*words)
    else:
        assert "accumulate=2" in refused
        assert "use accumulate=1" in refused


def refusal(*words: str) -> str | None:
    try:
        build_module(composed(*words))
    except ConfigError as error:
        return str(error)
    return None
