"""Whole steps of every method on a GPU that is not there (tests/support/fake_gpu.py): nothing of them waits for it.

Views, forward, weighting with its memory, loss, backward, SGD, the average, logging, in 32 bits and both kinds of 16,
channels last. Values are never computed, so that this says nothing about numbers, kernels or times.
"""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
import torch
from hydra.utils import instantiate
from lightning import Callback
from torch._subclasses.fake_tensor import DynamicOutputShapeException
from torch.amp import GradScaler

from smoothpl.data import Batch
from smoothpl.optim import cosine
from smoothpl.run.build import build_data, build_module
from tests.support.composing import TINY, composed, options
from tests.support.fake_gpu import GPU, Remarks, fake_gpu, move, to_gpu

PRECISIONS = {"32": None, "bf16": torch.bfloat16, "16": torch.float16}
OF_SCALER = {"_to_copy in double precision": 2, "reciprocal in double precision": 1}
"""Of one number, in torch's own GradScaler."""
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
        self.module.log_dict = lambda *_, **__: None  # type: ignore[method-assign]  # what it is told was asked for before
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
        scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
        scaler.unscale_(self.optimizer)
        self.optimizer.step()
        scaler.update()
        self.optimizer.zero_grad()
        self.schedule.step()
        self.trainer.global_step += 1
        for each in self.callbacks:
            each.on_train_batch_end(self.trainer, self.module, None, batch, 0)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", options("method"))
def test_a_step_waits_for_nothing_and_every_step_allocates_the_same(method: str) -> None:
    """And mixes no devices, has no double precision, and takes nothing from the host.

    In every step the same operations make tensors of the same dims, types and layouts: what CUDA graphs ask for.
    """
    run = OnGPU(f"method={method}", *WORDS)
    assert not run.of_views
    with fake_gpu():
        run.step(run.batches[0], None)
        allocated = []
        for name in ("32", *PRECISIONS):
            with Remarks() as remarks:
                run.step(run.batches[1], PRECISIONS[name])
            assert remarks.found == (OF_SCALER if name == "16" else {}), f"{method}, {name} bits"
            allocated.append(remarks.made)
    assert allocated[0] == allocated[1]
    assert allocated[1] != allocated[2] != allocated[3]


def test_what_no_step_should_do_would_be_noticed() -> None:
    """Reading a number, a copy from the host, double precision, tensors of two devices, dims that depend on values."""
    with fake_gpu():
        images, numbers = torch.zeros(3, device=GPU), torch.zeros(3)
        for wrong in (images.max().item, images.tolist, lambda: numbers.to(GPU), images.double, images.cpu):
            with Remarks() as remarks:
                wrong()
            assert remarks.found
        with pytest.raises(Exception, match="device"):
            images + numbers
        with pytest.raises(DynamicOutputShapeException):
            images.nonzero()


@pytest.mark.parametrize("kind", PRECISIONS.values(), ids=PRECISIONS)
def test_logging_asks_for_numbers_only_when_it_is_due(kind: torch.dtype | None) -> None:
    run = OnGPU("method=flexmatch", *WORDS, "log_every=2")
    asked = []
    with fake_gpu():
        for _ in range(4):
            with Remarks() as remarks:
                run.step(run.batches[0], kind)
            asked.append(remarks.found["asks for a value"] > 0)
    assert asked == [False, True, False, True]


@pytest.mark.parametrize("views", options("views"))
def test_views_wait_for_nothing(views: str) -> None:
    """What chance has decided is there as plain numbers, also how many images take which operation.

    Double precision is left to two operations that must do as Pillow does, on a seventh of the images.
    """
    config = composed(
        f"views={views}", "data.channels=3", "data.mean=[0.5,0.5,0.5]", "data.std=[0.5,0.5,0.5]", "+data.size=32"
    )
    made = instantiate(config.views, _convert_="all")
    images = torch.zeros(32, 3, 32, 32, dtype=torch.uint8)
    draws = [torch.rand(32, view.num_draws) for view in (made.weak, made.strong)]
    plans = [view.plan(draw, images.shape) for view, draw in zip((made.weak, made.strong), draws, strict=True)]
    with fake_gpu():
        on_gpu, moved = to_gpu(images), to_gpu(plans)
        for _ in range(2):  # what is made once per device is made first
            with Remarks() as remarks:
                for view, plan in zip((made.weak, made.strong), moved, strict=True):
                    made.normalise(view(on_gpu, plan))
    assert not {name for name in remarks.found if not name.endswith("in double precision")}
    assert bool(remarks.found) == ("randaugment" in str(config.views.strong))
