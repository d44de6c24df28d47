"""Blocks: what a network repeats, from its input to its output; learning rates go by their number."""

from collections import Counter
from collections.abc import Iterator

from torch import nn

CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict)


def depths(network: nn.Module) -> dict[str, int]:
    """The path of every block, and of every layer outside of them, to its depth.

    The first block has depth 1, the last one the highest. What comes before the first block has depth 0; what comes
    after a block, its depth. Layers count in the order in which they were defined, which is that of the input.
    """
    blocks = {*paths_of_blocks(network)}
    if not blocks:  # a plain stack of layers: each that multiplies is a block of its own
        blocks = {path for path, module in network.named_modules() if is_layer(module) and num_matrices(module)}
    found: dict[str, int] = {}
    depth = 0
    for path, _ in network.named_modules():
        if path in blocks:
            depth += 1
        if not any(path.startswith(f"{block}.") for block in blocks):
            found[path] = depth
    return found


def depth_of(name: str, known: dict[str, int]) -> int:
    """The depth of a parameter by its name, or of what was put into its layer since."""
    while name not in known:
        name = name.rpartition(".")[0]
    return known[name]


def paths_of_blocks(network: nn.Module) -> list[str]:
    counts = Counter(type(module) for module in network.modules() if is_compound(module))

    def walk(module: nn.Module, path: str) -> Iterator[str]:
        for name, child in module.named_children():
            inner = f"{path}.{name}" if path else name
            if counts[type(child)] > 1 and not has_chain(child):
                yield inner
            else:
                yield from walk(child, inner)

    return [*walk(network, "")]


def has_chain(module: nn.Module) -> bool:
    """Whether blocks are repeated within a module, so that it is a stage of several."""
    for inner in module.modules():
        children = [child for child in inner.children() if not is_empty(child)]
        kinds = Counter(type(child) for child in children if is_compound(child))
        most = max(kinds.values(), default=0)
        # A stage of timm's RegNet is no container, and holds nothing but its blocks.
        if most > 1 and (isinstance(inner, CONTAINERS) or most == len(children)):
            return True
    return False


def is_compound(module: nn.Module) -> bool:
    """A module of its own kind with several layers that multiply, and not just one with its normalisation."""
    return not isinstance(module, CONTAINERS) and not is_layer(module) and num_matrices(module) > 1


def is_layer(module: nn.Module) -> bool:
    """Its parameters are its own; an activation inside has none."""
    return all(is_empty(child) for child in module.children())


def is_empty(module: nn.Module) -> bool:
    return next(module.parameters(), None) is None


def num_matrices(module: nn.Module) -> int:
    return sum(parameter.ndim > 1 for parameter in module.parameters())
