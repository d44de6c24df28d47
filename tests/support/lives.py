"""Runs with several lives: begun, killed or stopped, and continued."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from smoothpl.record.record import read
from tests.support.processes import Done, Process

KNOBS = ("max_steps=24", "eval_every=6", "checkpoint_every=4", "log_every=3", "batch_size=4", "pictures=false")


def run(run_dir: Path, *knobs: str) -> Done:
    return start(run_dir, *knobs).wait()


def start(run_dir: Path, *knobs: str) -> Process:
    run_dir.parent.mkdir(parents=True, exist_ok=True)
    return Process("smoothpl.train", f"hydra.run.dir={run_dir}", *KNOBS, *knobs, cwd=run_dir.parent)


def resume(run_dir: Path, *knobs: str) -> Done:
    return Process("smoothpl.train", f"resume={run_dir}", *knobs, cwd=run_dir.parent).wait()


def outcome(run_dir: Path) -> tuple[dict[str, Any], dict[str, Any], str]:
    """All that a run leaves, but for times and the number of its lives."""
    checkpoint = torch.load(run_dir / "last.ckpt", weights_only=True)
    record = read(run_dir)
    record.started, record.duration, record.time_before, record.resumed_at, record.overrides = "", None, 0, [], []
    record.config["callbacks"].pop("killer", None)
    record.recipe = record.name = ""
    parts = {key: checkpoint[key] for key in ("state_dict", "optimizer_states", "lr_schedulers", "global_step")}
    return parts, vars(record), (run_dir / "logs" / "metrics.csv").read_text()


def differences(one: Any, other: Any, where: str = "") -> list[str]:
    """The places where two outcomes differ by as much as a bit."""
    if isinstance(one, dict | list | tuple) and type(one) is type(other) and len(one) == len(other):
        pairs = one.items() if isinstance(one, dict) else enumerate(one)
        return [each for key, part in pairs for each in differences(part, other[key], f"{where}/{key}")]
    same = torch.equal(one, other) if isinstance(one, Tensor) else one == other
    return [] if same else [f"{where}: {one} and {other}"]


def killer(moment: str, step: int) -> str:
    return f"+callbacks.killer={{_target_: tests.support.killer.Killer, moment: {moment}, step: {step}}}"
