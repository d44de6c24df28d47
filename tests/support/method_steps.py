"""Steps of a method on digits, for tests that hold it against an independent statement of its rule."""

from collections.abc import Callable, Iterable, Iterator, Mapping

import torch
from torch import Tensor

from smoothpl.data import Batch
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.method_heads import Classifier
from smoothpl.nets.output import Output
from smoothpl.nets.with_heads import base_of
from smoothpl.run.build import build_data, build_module
from tests.support.composing import TINY, composed

Rule = Callable[[SemiSupervisedModule, Batch, Mapping[str, Output]], Tensor]
"""The loss of a step as it was published, made of what the network has made of the views of that step."""


def module_and_batches(*overrides: str) -> tuple[SemiSupervisedModule, Iterator[Batch]]:
    config = composed(*TINY, *overrides)
    torch.manual_seed(0)
    module, data = build_module(config), build_data(config)
    data.setup("fit")
    assert module.weighting is not None
    module.weighting.prepare(len(data.fold.unlabeled), data.labeled_per_class)
    for term in module.all_terms.values():
        term.prepare(len(data.fold.unlabeled), data.labeled_per_class)
    return module, (data.on_after_batch_transfer(step, 0) for step in data.train_dataloader())


def gradient(loss: Tensor, module: SemiSupervisedModule) -> Tensor:
    """By all parameters of the network, its heads included; 0 where the loss does not depend on one."""
    parameters = [each for each in module.network.parameters() if each.requires_grad]
    found = torch.autograd.grad(loss, parameters, retain_graph=True, allow_unused=True)
    parts = [torch.zeros_like(each) if own is None else own for each, own in zip(parameters, found, strict=True)]
    return torch.cat([part.flatten() for part in parts])


def assert_follows(
    rule: Rule, *overrides: str, steps: int = 100, scale: float = 8.0, close: float = 1e-5
) -> SemiSupervisedModule:
    """The loss of every step, and its gradient, are those of the rule; the network takes a step by them each time.

    `scale`: logits of an untrained network are multiplied by it, so that some images are believed in firmly. The rule
    gets what the network made of the views, and keeps a memory of its own where the method has one.
    """
    module, batches = module_and_batches(f"max_steps={steps}", *overrides)
    sharpen_last_layer(module, scale)
    optimizer = torch.optim.SGD([each for each in module.network.parameters() if each.requires_grad], lr=0.03)
    assert module.weighting is not None
    look, seen = module.look, list[dict[str, Output]]()

    def overheard(batch: Batch) -> dict[str, Output]:
        seen.append(look(batch))
        return seen[-1]

    module.look = overheard  # type: ignore[method-assign]
    for batch in batches:
        learned = module.learn_from_all(batch, module.weighting)
        expected = rule(module, batch, seen.pop())
        torch.testing.assert_close(learned["loss"], expected, rtol=close, atol=0.1 * close)
        ours, theirs = gradient(learned["loss"], module), gradient(expected, module)
        torch.testing.assert_close(ours, theirs, rtol=10 * close, atol=close * float(theirs.abs().max()))
        optimizer.zero_grad()
        learned["loss"].backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return module


def sharpen_last_layer(module: SemiSupervisedModule, scale: float) -> None:
    """And that of a second linear classifier, where a method has one."""
    layers = [part for part in base_of(module.network).modules() if isinstance(part, torch.nn.Linear)]
    heads: Iterable[torch.nn.Module] = getattr(module.network, "heads", {}).values()
    first = next(part for part in layers if part.out_features == 10)
    with torch.no_grad():
        for classifier in (
            first,
            *(head for head in heads if isinstance(head, Classifier) and head.out_features == 10),
        ):
            classifier.weight.mul_(scale)
