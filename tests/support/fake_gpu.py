"""A GPU that is not there: tensors on it have dims, types and devices, and no values. Whoever asks for one is noted."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from unittest.mock import patch

import torch
from torch import Tensor, is_tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from tests.support import walking

GPU = torch.device("cuda:0")
FAKE = FakeTensorMode(allow_non_fake_inputs=False)
"""One for all: what is made once per device stays, and two of them do not mix. A tensor of the host is an error."""
Tree = TypeVar("Tree")


@contextmanager
def fake_gpu() -> Iterator[None]:
    """As if there were one, and a driver: autocast switches itself off otherwise, and autograd asks the driver."""
    with (
        patch("torch.cuda.amp.common.amp_definitely_not_available", lambda: False),
        patch("torch.cuda.is_bf16_supported", lambda *_, **__: True),
        patch("torch.autograd.grad", walking.grad),
        patch.object(Tensor, "backward", walking.backward),
        FAKE,
    ):
        yield


def to_gpu(tree: Tree) -> Tree:
    """All tensors in any structure, as a batch travels."""
    with FAKE:
        moved: Tree = tree_map(lambda each: FAKE.from_tensor(each).detach().to(GPU) if is_tensor(each) else each, tree)
    return moved


def move(module: nn.Module) -> None:
    """As `module.to(GPU)`: parameters and buffers, and nothing else that a module may have kept. Channels last."""
    for part in module.modules():
        for name, parameter in part._parameters.items():
            if parameter is not None:
                moved = in_layout(to_gpu(parameter))
                part._parameters[name] = nn.Parameter(moved, requires_grad=parameter.requires_grad)
        for name, buffer in part._buffers.items():
            part._buffers[name] = to_gpu(buffer)


def in_layout(images: Tensor) -> Tensor:
    return images.contiguous(memory_format=torch.channels_last) if images.ndim == 4 else images


class Remarks(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """What no step should do: ask the device for a value, move tensors to it or from it, compute in double precision.

    What waits for a value gets a made-up one, so that all of a step is seen.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.found: Counter[str] = Counter()
        self.made: list[str] = []
        """What every operation has made: its name, dims, types and layouts."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        given = [each for each in tree_leaves((args, kwargs)) if isinstance(each, Tensor)]
        if name == "_local_scalar_dense":
            self.found["asks for a value"] += 1
            return 0.5 if given[0].is_floating_point() else 1
        made = func(*args, **(kwargs or {}))
        results = [each for each in tree_leaves(made) if isinstance(each, Tensor)]
        devices = {each.device.type for each in (*given, *results)}
        if len(devices) > 1:
            self.found[f"{name} of {' and '.join(sorted(devices))}"] += 1
        elif devices == {"cpu"}:
            self.found[f"{name} on the host"] += 1
        if any(each.dtype == torch.float64 for each in (*given, *results)):
            self.found[f"{name} in double precision"] += 1
        self.made.append(f"{name} {[(*each.shape, each.dtype, each.stride()) for each in results]}")
        return made
