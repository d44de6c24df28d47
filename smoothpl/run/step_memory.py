"""The largest memory of a step, counted: the whole step is gone through on tensors that have dims and no values.

Counted is every tensor that is alive at the same time: the network, its average, gradients, momentum, views, all that
is kept for the gradient, and what an operation makes. Not counted: the libraries and the driver, rooms to work in of
cuDNN and others, what an allocator rounds up and leaves unused, images that wait in loaders, how views are made (before
the network, and smaller), and what a method remembers of every unlabeled image.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from functools import partial
from typing import Any
from weakref import finalize, ref

import numpy as np
import torch
from omegaconf import DictConfig
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.optim import SGD
from torch.optim.swa_utils import get_ema_multi_avg_fn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.weak import WeakIdKeyDictionary

from smoothpl.data import Batch
from smoothpl.data.wanted import FURTHER_CHANCE, FURTHER_VIEWS, FurtherView, Sizes
from smoothpl.module import SemiSupervisedModule
from smoothpl.run.build import build_module
from smoothpl.run.memory import known_side, parts_of_step
from smoothpl.run.step_time import input_dims

MIXED = dict.fromkeys(("bf16-mixed", "bf16"), torch.bfloat16) | dict.fromkeys(("16-mixed", "16"), torch.float16)
THROUGHOUT = {"bf16-true": torch.bfloat16, "16-true": torch.float16, "64-true": torch.float64, "64": torch.float64}
"""Of Lightning's names for precisions; all others are of 32 bits."""
TURNS = 4
OF_STEP = (
    *("net", "backbone", "batch_size", "unlabeled_ratio", "forward", "learned_view", "learned_head", "views_wanted"),
    *("policy", "align", "refine", "balance", "teacher", "mix", "ascent", "extra_heads", "terms", "labeled_weight"),
)


class LiveBytes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Bytes of all tensors that are alive, and the most that were so far. Views of a tensor take nothing."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.live: int = 0
        self.peak: int = 0
        self.known = WeakIdKeyDictionary(ref_type=ref)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        for each in tree_leaves(made):
            if isinstance(each, Tensor):
                self.note(each)
        return made

    def note(self, tensor: Tensor) -> None:
        storage = tensor.untyped_storage()
        if storage in self.known:
            return
        self.known[storage] = None
        self.live += storage.nbytes()
        self.peak = max(self.peak, self.live)
        finalize(storage, self.forget, storage.nbytes())

    def forget(self, size: int) -> None:
        self.live -= size


def kind_of_step(config: DictConfig) -> str | None:
    """What its memory depends on, in words; None where it cannot be counted without opening the data, or a backbone
    learns, too, which says what it needs itself (smoothpl/run/finetune.py)."""
    side = known_side(config)
    if config.finetune is not None or (side is None and config.backbone is None):
        return None
    known = (side, config.data.channels, config.data.num_classes, config.trainer.precision, parts_of_step(config))
    return str((known, [config[name] for name in OF_STEP]))


def peak_of_step(config: DictConfig) -> int | None:
    """Bytes on each device. None for parts of one's own that cannot be gone through without values."""
    try:
        return count(config)
    except Exception:  # whatever it is, the run itself will say it
        return None


def count(config: DictConfig) -> int:
    """From the second step on: the momentum is there from the first one."""
    config = deepcopy(config)
    config.compile = False
    with torch.random.fork_rng(devices=[]):
        module = build_module(config)
    prepare(module, config)
    precision = str(config.trainer.precision)
    kind = THROUGHOUT.get(precision, torch.float32)
    with FakeTensorMode() as fake, LiveBytes() as memory:
        take(module, fake, kind)
        for each in (*module.parameters(), *module.buffers()):
            memory.note(each)
        optimizer = module.make_optimizer(module.network)
        make_momentum(optimizer)
        batch = made_up_batch(config, input_dims(config, module.network), kind)
        step(module, batch, optimizer, precision)
        peak: int = memory.peak
    return peak


def prepare(module: SemiSupervisedModule, config: DictConfig) -> None:
    """For as many unlabeled images as a step has: how many there are, only the data know."""
    if module.weighting is None:
        return
    number = config.batch_size * config.unlabeled_ratio
    labeled = torch.full((config.data.num_classes,), max(1, (config.num_labels or 0) // config.data.num_classes))
    module.weighting.prepare(number, labeled)
    for term in module.all_terms.values():
        term.prepare(number, labeled)


def take(module: nn.Module, fake: FakeTensorMode, kind: torch.dtype) -> None:
    """Parameters and buffers without their values."""

    def without_values(tensor: Tensor) -> Tensor:
        made = fake.from_tensor(tensor).detach()
        return made.to(kind) if made.is_floating_point() else made

    for part in module.modules():
        for name, own in part._parameters.items():
            if own is not None:
                part._parameters[name] = nn.Parameter(without_values(own), requires_grad=own.requires_grad)
        for name, buffer in part._buffers.items():
            if buffer is not None:
                part._buffers[name] = without_values(buffer)


def make_momentum(optimizer: SGD) -> None:
    for group in optimizer.param_groups:
        for each in group["params"]:
            each.grad = torch.empty_like(each)
    optimizer.step()


def made_up_batch(config: DictConfig, dims: tuple[int, ...], kind: torch.dtype = torch.float32) -> Batch:
    """As large as the part of a step that one device sees at once."""
    inputs = partial(inputs_of, dims=dims, kind=kind)
    num_labeled = max(1, config.batch_size // parts_of_step(config))
    num_unlabeled = num_labeled * config.unlabeled_ratio
    sizes = Sizes(num_labeled, num_unlabeled, dims)
    wanted, has_strong = config.views_wanted, config.learned_view == "strong"
    views = {name: inputs(images_of(view, sizes)) for name, view in FURTHER_VIEWS.items() if name in wanted}
    if "turn" in wanted and has_strong:
        views["turned"] = inputs(num_unlabeled)
    return Batch(
        labeled=inputs(num_labeled),
        label=torch.zeros(num_labeled, dtype=torch.long),
        weak=inputs(num_unlabeled),
        strong=inputs(num_unlabeled) if has_strong else None,
        image=torch.zeros(num_unlabeled, dtype=torch.long),
        labeled_image=torch.zeros(num_labeled, dtype=torch.long),
        views=views,
        chance={name: chance_of(name, sizes) for name in FURTHER_CHANCE if name in wanted},
    )


def images_of(view: FurtherView, sizes: Sizes) -> int:
    number = sizes.num_unlabeled if view.of == "unlabeled" else sizes.num_labeled
    return number * TURNS if view.turns else number


def inputs_of(number: int, dims: tuple[int, ...], kind: torch.dtype) -> Tensor:
    made = torch.empty(number, *dims, dtype=kind)
    return made.contiguous(memory_format=torch.channels_last) if len(dims) == 3 else made


def chance_of(name: str, sizes: Sizes) -> Tensor:
    if name == "noise":  # as large as the images: too many numbers to be drawn for nothing
        return torch.empty(sizes.num_unlabeled, *sizes.dims)
    drawn = FURTHER_CHANCE[name].draw(np.random.default_rng(0), sizes)
    return torch.empty(drawn.shape, dtype=drawn.dtype)


def step(module: SemiSupervisedModule, batch: Batch, optimizer: SGD, precision: str) -> None:
    """In Lightning's order: gradients of the step before are there until the backward begins."""
    with autocast(precision):
        weighting = module.weighting
        learned = module.learn_from_labels(batch) if weighting is None else module.learn_from_all(batch, weighting)
    loss = learned["loss"]
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    with torch.no_grad():
        average = get_ema_multi_avg_fn(0.999)  # type: ignore[no-untyped-call]
        average([*module.average.parameters()], [*module.network.parameters()], 0)


@contextmanager
def autocast(precision: str) -> Iterator[None]:
    """Of the CPU: its tensors have the dims and types of a GPU's."""
    with torch.autocast("cpu", MIXED[precision]) if precision in MIXED else nullcontext():
        yield
