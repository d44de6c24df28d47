"""Whole steps of every method on a GPU that is not there (tests/support/fake_gpu.py): nothing of them waits for it.

Views, forward, weighting with its memory, loss, backward, SGD, the average, logging, in 32 bits and both kinds of 16,
channels last. Values are never computed, so that this says nothing about numbers, kernels or times.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hydra.utils import instantiate
from lightning import Callback
from torch.amp import GradScaler

from smoothpl.data import Batch
from smoothpl.module import SemiSupervisedModule
from smoothpl.optim import cosine
from smoothpl.run.build import build_data, build_module
from tests.support.composing import TINY, composed, options
from tests.support.fake_gpu import Remarks, fake_gpu, move, to_gpu

PRECISIONS = {"32": None, "bf16": torch.bfloat16, "16": torch.float16}
STEPS = 2
WORDS = (*TINY, "max_steps=100", "eval_every=100", "log_every=100")


class OnGPU:
    """A run that has reached its GPU, and the batches of its first steps."""

    def __init__(self, *words: str) -> None:
        config = composed(*words)
        self.data, self.module = build_data(config), build_module(config)
        self.data.setup("fit")
        self.trainer = SimpleNamespace(
            **{"datamodule": self.data, "global_step": 0, "max_steps": 100, "accumulate_grad_batches": 1},
            **{"is_last_batch": False, "world_size": 1, "is_global_zero": True, "loggers": []},
        )
        self.module.trainer = self.trainer  # type: ignore[assignment]
        self.module.setup("fit")
        raw = [step for _, step in zip(range(STEPS), self.data.train_dataloader(), strict=False)]
        self.callbacks: list[Callback] = [
            instantiate(config.callbacks[name]) for name in ("ema", "collapse", "coverage", "purity")
        ]
        for each in self.callbacks[1:]:
            each.on_train_start(self.trainer, self.module)  # type: ignore[arg-type]
            vars(each).update({name: to_gpu(value) for name, value in vars(each).items() if name != "story"})
        with fake_gpu():
            move(self.module)
            self.callbacks[0].on_train_start(self.trainer, self.module)  # type: ignore[arg-type]
            self.optimizer = self.module.make_optimizer(self.module.network)
            self.schedule = cosine(self.optimizer, 100)
            self.raw = to_gpu(raw)
            self.data.views.of_step(self.raw[0])  # what is made once per device
            with Remarks() as remarks:
                self.batches = [self.data.views.of_step(each) for each in self.raw]
        self.of_views = remarks.found

    def step(self, batch: Batch, kind: torch.dtype | None) -> None:
        """As Lightning makes it, but that torch's GradScaler is not asked whether a gradient overflowed: it waits."""
        scaler = GradScaler("cuda", enabled=kind is torch.float16)
        with nullcontext() if kind is None else torch.autocast("cuda", kind):
            loss = self.module.training_step(batch, 0)
        scaler.scale(loss).backward()
        scaler.unscale_(self.optimizer)
        self.optimizer.step()
        scaler.update()
        self.optimizer.zero_grad()
        self.schedule.step()
        self.trainer.global_step += 1
        for each in self.callbacks:
            each.on_train_batch_end(self.trainer, self.module, None, batch, 0)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", options("method"))
def test_a_step_waits_for_nothing_mixes_no_devices_and_has_no_double_precision(method: str) -> None:
    run = OnGPU(f"method={method}", *WORDS)
    assert not run.of_views
    with fake_gpu():
        run.step(run.batches[0], None)
        for name, kind in PRECISIONS.items():
            with Remarks() as remarks:
                run.step(run.batches[1], kind)
            assert not remarks.found, f"{method}, {name} bits"
