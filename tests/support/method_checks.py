"""What every method is tested for besides its rule: paths through thresholds and ties, waiting, parts of a step."""

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import product

import torch
from torch import Tensor, nn

from benchmarks.waiting import Synchronisations
from smoothpl.data import Batch
from smoothpl.data.batch import NOTHING
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.output import Output
from smoothpl.pseudo import Beliefs, Curriculum, Everybody, Step, Weighting, pseudo_labels
from smoothpl.pseudo.equal_shares import EqualShares
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.terms.balanced import Balanced
from tests.support.method_steps import gradient, module_and_batches, sharpen_last_layer

SMALL, LARGE = 0.005, 0.05
"""Jumps: a smooth loss has none above the first, every other loss has one above the second (test_smoothness.py)."""
CLASSES, POINTS = 10, 5_001
MakeOutput = Callable[[Tensor], Output]
Seen = tuple[SemiSupervisedModule, MakeOutput, Mapping[str, Tensor]]


def loss_of(module: SemiSupervisedModule, batch: Batch) -> Tensor:
    assert module.weighting is not None
    return module.learn_from_all(batch, module.weighting)["loss"]


def assert_same_losses(ours: tuple[str, ...], theirs: tuple[str, ...], steps: int = 3) -> None:
    """Two compositions have the same loss, to the bit, and the same gradient; they see the same batches."""
    first, batches = module_and_batches(*ours)
    second, others = module_and_batches(*theirs)
    for module in (first, second):
        sharpen_last_layer(module, 8.0)  # some images are believed in firmly
    for _, batch, other in zip(range(steps), batches, others, strict=False):
        losses = loss_of(first, batch), loss_of(second, other)
        torch.testing.assert_close(*losses, rtol=0, atol=0)
        torch.testing.assert_close(gradient(losses[0], first), gradient(losses[1], second), rtol=0, atol=1e-7)


def waits_in_a_step(*words: str) -> Counter[str]:
    """What makes the host wait for the device in a step."""
    module, batches = module_and_batches(*words)
    batch = next(batches)
    with Synchronisations() as synchronisations:
        loss_of(module, batch).backward()  # type: ignore[no-untyped-call]
    found: Counter[str] = synchronisations.found
    return found


def assert_parts_make_the_whole(*words: str) -> None:
    """The loss of a step is the mean of the losses of its halves (accumulate); without statistics of the batch."""
    module, batches = module_and_batches(*words)
    sharpen_last_layer(module, 8.0)
    module.network.eval()
    batch = next(batches)
    halves = [half(batch, number) for number in range(2)]
    whole, parts = loss_of(module, batch), [loss_of(module, part) for part in halves]
    torch.testing.assert_close(whole, torch.stack(parts).mean())
    torch.testing.assert_close(gradient(whole, module), gradient(torch.stack(parts).mean(), module))


def half(batch: Batch, number: int) -> Batch:
    def cut(part: Tensor | None) -> Tensor | None:
        return None if part is None else part.chunk(2)[number]

    tensors = {name: cut(getattr(batch, name)) for name in ("labeled", "label", "weak", "strong", "image")}
    views = {name: view.chunk(2)[number] for name, view in batch.views.items()}
    return batch._replace(**tensors, views=views, labeled_image=None)  # type: ignore[arg-type]


def largest_jump(
    moving: str,
    views: tuple[str, ...],
    *words: str,
    output: MakeOutput = Output,
    chance: Mapping[str, Tensor] = NOTHING,
    prepare: Callable[[SemiSupervisedModule], None] = lambda module: None,
) -> float:
    """Of the gradient by the logits of all views, as those of one view go from one class to another.

    Every point of the way is an image of one step: what a method remembers is the same for all of them. `output`: what
    else the network would make of an image with these logits.
    """
    module, _ = module_and_batches(*words)
    assert module.weighting is not None
    prepare(module)
    if isinstance(module.weighting.policy, Curriculum):  # as if it had seen all images: classes differ in thresholds
        policy, progress = module.weighting.policy, torch.linspace(0.6, 1, CLASSES)
        policy.count.copy_(progress * policy.unit * len(policy.ledger) / progress.sum())
    if isinstance(module.weighting.policy, EqualShares):
        module.weighting.policy.thresholds.copy_(torch.linspace(0.2, 0.95, CLASSES))
    if module.weighting.balance is not None:
        module.weighting.balance.of_pseudo_label.copy_(torch.linspace(0.1, 1.9, CLASSES))
    for term in module.all_terms.values():
        if isinstance(term, Balanced):  # as late as it leaves images out
            term.steps.fill_(term.max_steps)
    seen = module, output, chance
    return max(jump_on_way(seen, moving, views, *ends) for ends in product(range(2), range(3, 5)))


def jump_on_way(seen: Seen, moving: str, views: tuple[str, ...], first: int, second: int) -> float:
    chance = torch.Generator().manual_seed(3 + first + second)
    way = torch.linspace(0, 1, POINTS, dtype=torch.float64).unsqueeze(1)
    ends = 0.3 * torch.randn(2, CLASSES, generator=chance, dtype=torch.float64)
    ends[0, first] += 7
    ends[1, second] += 7
    path = ((1 - way) * ends[0] + way * ends[1]).float()
    still = torch.randn(CLASSES, generator=chance).expand(POINTS, CLASSES)
    logits = {name: (path if name == moving else still).clone().requires_grad_() for name in views}
    loss = loss_of_logits(*seen, logits)
    found = torch.autograd.grad(loss, [*logits.values()], allow_unused=True)
    return max(POINTS * each.diff(dim=0).abs().max().item() for each in found if each is not None)


def loss_of_logits(
    module: SemiSupervisedModule, output: MakeOutput, chance: Mapping[str, Tensor], logits: Mapping[str, Tensor]
) -> Tensor:
    """The loss of a step in which the network would say so, and all its heads if nothing else is said of them."""
    heads = [*map(str, getattr(module.network, "heads", ()))]
    made = {name: output(each) for name, each in logits.items()}
    outputs = {
        name: each if each.heads else each._replace(heads=dict.fromkeys(heads, each.logits))
        for name, each in made.items()
    }
    module.look = lambda batch: outputs  # type: ignore[method-assign]
    number = len(logits["weak"])
    nothing = torch.zeros(number, dtype=torch.long)
    chance = {"balance": torch.full((2 * number,), 0.15)} | dict(chance)
    batch = Batch(labeled=nothing, label=nothing, weak=nothing, strong=None, image=nothing, chance=chance)
    return loss_of(module, batch)


def step_of(network: nn.Module | None = None, weak_images: Tensor | None = None, **logits: Tensor) -> TrainStep:
    """A step of a method without a threshold, in which the network says so of every view."""
    number = len(logits["weak"])
    nothing = torch.zeros(number, dtype=torch.long)
    images = nothing if weak_images is None else weak_images
    batch = Batch(labeled=nothing, label=nothing, weak=images, strong=None, image=nothing)
    pseudo = pseudo_labels(logits["weak"], nothing)
    outputs = {name: Output(each) for name, each in logits.items()}
    beliefs = Beliefs(pseudo, pseudo.probabilities, nothing)
    weighting = Weighting(Everybody(), Step())
    return TrainStep(batch, outputs, beliefs, weighting(pseudo), pseudo, network or nn.Identity(), weighting)
