"""What makes the host wait for the device."""

from collections import Counter
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode


class Synchronisations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts what makes the host wait: reading a number, dims that depend on values, copies from the host."""

    WAITING = ("_local_scalar_dense", "nonzero", "is_nonzero", "masked_select", "equal", "unique", "item", "lift_fresh")

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.found: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if name in self.WAITING:
            self.found[name] += 1
        return func(*args, **(kwargs or {}))
