"""What a method costs beside the labels: what it keeps, and how often it looks at an image. Counted, not known."""

from typing import NamedTuple

import torch
from omegaconf import DictConfig, OmegaConf
from torch import Tensor, nn

from smoothpl.cli.messages import counted
from smoothpl.data import Batch
from smoothpl.module import SemiSupervisedModule
from smoothpl.pseudo import Weighting
from smoothpl.run.build import build_data, build_module
from smoothpl.terms.term import Term

SIZES = (1000, 2000)
"""Of two sets of unlabeled images, by which what grows with them is told from what does not."""
RATIOS = (1, 2)
"""The same for the images of a step."""


class Cost(NamedTuple):
    """Of one method. What a step does is counted by image, what it keeps by number."""

    per_image: int  # numbers that it keeps of every unlabeled image
    fixed: int  # and besides
    labeled: int  # how often a step sends each labeled image through a network
    unlabeled: int  # and each unlabeled one
    backward: int  # of these, how often a gradient comes back

    def __str__(self) -> str:
        """Two sentences."""
        kept = [counted(self.per_image, "number", "numbers") + " for each unlabeled image"] if self.per_image else []
        if self.fixed:
            kept.append(f"{self.fixed:,} more" if kept else counted(self.fixed, "number", "numbers"))
        free = self.unlabeled - self.backward
        freely = f", {times(free)} of these without a gradient" if free else ""
        return (
            f"Keeps {' and '.join(kept) or 'nothing'}. A step looks at each labeled image {times(self.labeled)}, "
            f"at each unlabeled one {times(self.unlabeled)}{freely}."
        )


def times(number: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number} times")


def cost_of(config: DictConfig) -> Cost:
    """`config`: composed for data that are quickly opened, and a network that begins with a layer on images."""
    few, many = (numbers_kept(config, size) for size in SIZES)
    per_image = (many - few) // (SIZES[1] - SIZES[0])
    first, second = (looks_of(config, ratio) for ratio in RATIOS)
    forward, backward = ((more - less) // config.batch_size for less, more in zip(first, second, strict=True))
    return Cost(
        per_image=per_image,
        fixed=few - per_image * SIZES[0],
        labeled=first.forward // config.batch_size - forward,
        unlabeled=forward,
        backward=backward,
    )


def numbers_kept(config: DictConfig, num_unlabeled: int) -> int:
    module = build_module(config)
    labeled = torch.full((config.data.num_classes,), config.num_labels // config.data.num_classes)
    return sum(
        buffer.numel() for part in prepared(module, num_unlabeled, labeled) for buffer in part.state_dict().values()
    )


class Looks(NamedTuple):
    """Images that went through the network and its average in a step, and those that a gradient came back from."""

    forward: int
    backward: int


def looks_of(config: DictConfig, ratio: int) -> Looks:
    with_ratio = OmegaConf.merge(config, {"unlabeled_ratio": ratio})
    assert isinstance(with_ratio, DictConfig)
    module, data = build_module(with_ratio), build_data(with_ratio)
    data.setup("fit")
    prepared(module, len(data.fold.unlabeled), data.labeled_per_class)
    batch: Batch = data.on_after_batch_transfer(next(iter(data.train_dataloader())), 0)
    return count_looks(module, batch)


def prepared(module: SemiSupervisedModule, num_unlabeled: int, labeled_per_class: Tensor) -> list[Weighting | Term]:
    """The parts of the method, as they are before the first step."""
    assert module.weighting is not None
    parts: list[Weighting | Term] = [module.weighting, *module.all_terms.values()]
    for part in parts:
        part.prepare(num_unlabeled, labeled_per_class)
    return parts


def count_looks(module: SemiSupervisedModule, batch: Batch) -> Looks:
    """By what goes through the first layer."""
    forward, backward = list[int](), list[int]()

    def note(_: nn.Module, __: object, output: Tensor) -> None:
        forward.append(len(output))
        if output.requires_grad:
            output.register_hook(lambda _: backward.append(len(output)))  # type: ignore[no-untyped-call]

    hooks = [first_layer(each).register_forward_hook(note) for each in (module.network, module.average)]
    try:
        assert module.weighting is not None
        module.learn_from_all(batch, module.weighting)["loss"].backward()  # type: ignore[no-untyped-call]
    finally:
        for hook in hooks:
            hook.remove()
    return Looks(sum(forward), sum(backward))


def first_layer(network: nn.Module) -> nn.Module:
    return next(each for each in network.modules() if next(each.parameters(recurse=False), None) is not None)
