"""Two real processes that share every step, as `trainer=ddp` starts them, against one process with the whole step."""

import signal
from pathlib import Path

import pytest
import torch
from lightning import seed_everything

from smoothpl.loggers.curves import Curves
from smoothpl.record.photographs import MOST_OF_A_KIND, read_photographs
from smoothpl.record.record import Record, read
from smoothpl.run.build import build_module
from tests.support.composing import composed
from tests.support.processes import Process

KNOBS = ("max_steps=20", "eval_every=10", "checkpoint_every=5", "log_every=5", "batch_size=8", "pictures=false")
TWO = ("trainer=ddp", "trainer.devices=2", "trainer.accelerator=cpu")
CALM = ("optim.learning_rate=0.0001", "threshold=0.15")
CLOSE = 1e-4
"""Sums in another order, in float32, over 20 calm steps: at the usual learning rate such differences multiply."""


def run(run_dir: Path, *knobs: str) -> tuple[Record, list[dict[str, str]], dict[str, torch.Tensor]]:
    done = Process("smoothpl.train", f"hydra.run.dir={run_dir}", *KNOBS, *knobs, cwd=run_dir.parent).wait()
    assert done.returncode == 0, done.stderr
    state = torch.load(run_dir / "last.ckpt", weights_only=True)["state_dict"]
    return read(run_dir), Curves(run_dir).read(), state


def initial_state(*knobs: str) -> dict[str, torch.Tensor]:
    config = composed(*KNOBS, *knobs)
    seed_everything(config.seed, verbose=False)
    return build_module(config).state_dict()


def test_two_processes_learn_what_one_does(tmp_path: Path) -> None:
    """FlexMatch, because it remembers the most."""
    method = "flexmatch"
    one, curves_of_one, state_of_one = run(tmp_path / "one", f"method={method}", *CALM)
    two, curves_of_two, state_of_two = run(tmp_path / "two", f"method={method}", *CALM, *TWO, "pictures=true")
    for row_of_one, row_of_two in zip(curves_of_one, curves_of_two, strict=True):
        for key, value in row_of_one.items():
            of_two = row_of_two[key]
            assert (value == "") == (of_two == "")
            assert value == "" or key.startswith("val/") or float(of_two) == pytest.approx(float(value), abs=CLOSE)
    first = initial_state(f"method={method}", *CALM)
    for name, tensor in state_of_one.items():
        torch.testing.assert_close(state_of_two[name], tensor, rtol=CLOSE, atol=CLOSE)
        if name.startswith("network.") and name.endswith("weight"):  # how far it went, not where it is
            moved, also_moved = tensor - first[name], state_of_two[name] - first[name]
            assert (moved - also_moved).norm() <= 0.02 * moved.norm() + 1e-6
    # Every test image counts once; one in a hundred may fall on the other side of a close decision.
    assert sum(map(sum, two.confusion)) == sum(map(sum, one.confusion)) == one.num_test
    assert two.error == pytest.approx(one.error, abs=1.0)
    assert [path.name for path in (tmp_path / "two").iterdir()].count("run.json") == 1
    # Photographs are chosen from what both have seen.
    shown = [(each.true, each.is_right) for each in read_photographs(tmp_path / "two", 10)]
    for true, row in enumerate(two.confusion):
        assert shown.count((true, True)) == min(MOST_OF_A_KIND, row[true])
        assert shown.count((true, False)) == min(MOST_OF_A_KIND, sum(row) - row[true])


def test_two_processes_that_are_asked_to_stop_agree_on_a_step_and_can_be_resumed(tmp_path: Path) -> None:
    _, curves, state = run(tmp_path / "alone", *TWO)
    run_dir = tmp_path / "run"
    process = Process("smoothpl.train", f"hydra.run.dir={run_dir}", *KNOBS, *TWO, cwd=tmp_path)
    process.wait_until(lambda: any(run_dir.glob("checkpoints/step=*.ckpt")))
    process.send(signal.SIGTERM)  # to one of them
    done = process.wait()
    assert done.returncode == 1, done.stderr
    assert f"to resume: python -m smoothpl.train resume={run_dir}" in done.stderr
    done = Process("smoothpl.train", f"resume={run_dir}", cwd=tmp_path).wait()
    assert done.returncode == 0, done.stderr
    assert read(run_dir).resumed_at[0] % 5 == 0
    assert Curves(run_dir).read() == curves
    again = torch.load(run_dir / "last.ckpt", weights_only=True)["state_dict"]
    assert all(torch.equal(value, again[name]) for name, value in state.items())


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("trainer.devices=2", "trainer.devices=2: more than one device needs trainer=ddp as well"),
        ("-m fold=0,1 trainer=ddp trainer.devices=2", "would start the whole sweep again"),
        ("trainer=ddp trainer.devices=3", "trainer.devices=3 do not divide batch_size=16 into equal parts"),
        ("trainer=ddp trainer.devices=2 unlabeled_weight=auto", "unlabeled_weight=auto measures on one device"),
    ],
)
def test_what_several_devices_cannot_do_is_said(tmp_path: Path, words: str, complaint: str) -> None:
    done = Process("smoothpl.train", *words.split(), cwd=tmp_path).wait()
    assert done.returncode == 1
    assert complaint in done.stderr
