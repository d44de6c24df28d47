"""Autograd without its engine: walks the same nodes, where torch's own engine would ask the driver for its devices.

Nodes of the graph are torch's; so are the formulas of the gradient. What the engine does between them is done here: it
adds up what reaches a node from several sides, sums over what was broadcast, and casts to the type of the input.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import BackwardCFunction
from torch.autograd.graph import Node

Sums = dict[Node, dict[int, Tensor]]


def backward(loss: Tensor, *_: Any, **__: Any) -> None:
    """In place of Tensor.backward."""
    for node, arrived in walk(loss):
        if hasattr(node, "variable") and 0 in arrived:
            leaf = node.variable
            leaf.grad = arrived[0].detach() if leaf.grad is None else leaf.grad + arrived[0]


def grad(
    loss: Tensor, inputs: Tensor | Sequence[Tensor], allow_unused: bool = False, materialize_grads: bool = False
) -> tuple[Tensor | None, ...]:
    """In place of torch.autograd.grad."""
    wanted = [inputs] if isinstance(inputs, Tensor) else [*inputs]
    found: list[Tensor | None] = [None] * len(wanted)
    for node, arrived in walk(loss):
        for place, each in enumerate(wanted):
            if each.grad_fn is node or getattr(node, "variable", None) is each:
                found[place] = arrived.get(each.output_nr)
    assert allow_unused or all(each is not None for each in found)
    if materialize_grads:
        return tuple(torch.zeros_like(own) if each is None else each for own, each in zip(wanted, found, strict=True))
    return tuple(found)


def walk(loss: Tensor) -> Iterator[tuple[Node, dict[int, Tensor]]]:
    """Every node with the gradients that have reached it, none before all of them have."""
    assert loss.grad_fn is not None
    sums: Sums = {loss.grad_fn: {loss.output_nr: torch.ones_like(loss)}}
    for node in in_order(loss.grad_fn):
        arrived = sums.pop(node, {})
        yield node, arrived
        if not hasattr(node, "variable") and arrived:
            with torch.no_grad():
                pass_on(node, arrived, sums)


def pass_on(node: Node, arrived: dict[int, Tensor], sums: Sums) -> None:
    given = [arrived.get(number) for number in range(max(1, len(node._input_metadata)))]
    # A Function in Python has a forward and a backward; a node of torch is called itself.
    function: Any = node
    run: Any = getattr(function, "apply") if isinstance(function, BackwardCFunction) else function  # noqa: B009
    made = run(*given)
    for (after, number), each in zip(node.next_functions, made if isinstance(made, tuple) else (made,), strict=False):
        if after is None or each is None:
            continue
        expected = after._input_metadata[number]
        assert each.device == expected.device, f"{node} gives {after} a gradient on {each.device}"
        fitting, place = each.sum_to_size(expected.shape).to(expected.dtype), sums.setdefault(after, {})
        place[number] = place[number] + fitting if number in place else fitting


def in_order(first: Node) -> list[Node]:
    """Each before all that it passes gradients on to."""
    found: list[Node] = []
    seen: set[Node] = set()
    left = [(first, False)]
    while left:
        node, is_done = left.pop()
        if is_done:
            found.append(node)
        elif node not in seen:
            seen.add(node)
            left += [(node, True), *((after, False) for after, _ in node.next_functions if after is not None)]
    return found[::-1]
