"""Ways through thresholds and ties, along which the gradient of a method jumps or does not."""

from copy import deepcopy
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

from smoothpl.data.batch import Batch
from smoothpl.nets.output import Output
from smoothpl.pseudo.judging import judge
from smoothpl.run.build_method import Method, build_method
from smoothpl.terms.term import Term
from tests.support.composing import composed

CLASSES, LABELED, UNLABELED = 10, 4, 8
SMALL, LARGE = 1e-3, 1e-2
"""Jumps: a smooth loss has none above the first, every other loss has one above the second."""
NETWORKS: Any = SimpleNamespace(network=torch.nn.Identity(), believe=lambda logits: logits)


class Way:
    """The weak view of one image goes from one class to another, all else rests.

    The others are sure of the first or the second of these classes, or of none; the memory is that of steps before.
    """

    def __init__(self, *overrides: str) -> None:
        config = composed("batch_size=4", "unlabeled_ratio=2", *overrides)
        self.method: Method = build_method(config)
        self.width = config.extra_heads.projection.head.width
        self.chance = torch.Generator().manual_seed(5)
        weighting, counts = self.method.weighting, torch.full((CLASSES,), LABELED // 2)
        assert weighting is not None
        self.weighting = weighting
        weighting.prepare(100, counts)
        self.batch = Batch(
            labeled=torch.zeros(LABELED, 1),
            label=torch.arange(LABELED) % CLASSES,
            weak=torch.zeros(UNLABELED, 1),
            strong=None,
            image=torch.arange(UNLABELED),
            labeled_image=torch.arange(LABELED),
        )
        for number in range(12):
            image = (number * LABELED + torch.arange(LABELED)) % int(counts.sum())
            batch = self.batch._replace(labeled_image=image, label=image % CLASSES)
            outputs = self.outputs()
            step = judge(batch, outputs, self.teacher, weighting, NETWORKS)
            weighting.observe(step.pseudo, step.weight, outputs, batch)
        self.resting = self.outputs()
        logits = 0.1 * torch.randn(UNLABELED, CLASSES, generator=self.chance)
        logits[1:4, 0] += 7
        logits[4:7, 1] += 7
        self.resting["weak"] = self.resting["weak"]._replace(logits=logits)
        self.state = deepcopy(weighting.state_dict())

    @property
    def teacher(self) -> Any:
        return self.method.teacher

    def outputs(self) -> dict[str, Output]:
        sizes = {"labeled": LABELED} | dict.fromkeys(("weak", "strong", "strong2", "simclr"), UNLABELED)
        return {name: self.output(size) for name, size in sizes.items()}

    def output(self, size: int) -> Output:
        logits, embeddings = (torch.randn(size, each, generator=self.chance) for each in (CLASSES, self.width))
        return Output(logits, None, {"projection": normalize(embeddings, dim=1)})

    def gradient(self, place: float) -> dict[str, Tensor]:
        """By the logits and the embeddings of the views that learn, where the way is gone to that share."""
        self.weighting.load_state_dict(self.state)
        learn = {name: each for name, each in self.resting.items() if name in ("strong", "strong2", "simclr")}
        leaves = {
            "logits": [each.logits.clone().requires_grad_() for each in learn.values()],
            "embeddings": [each.heads["projection"].clone().requires_grad_() for each in learn.values()],
        }
        moved = self.resting["weak"].logits.clone()
        moved[0, :2] += 7 * torch.tensor([1 - place, place])
        outputs = self.resting | {"weak": self.resting["weak"]._replace(logits=moved)}
        for name, logits, embeddings in zip(learn, leaves["logits"], leaves["embeddings"], strict=True):
            outputs[name] = Output(logits, None, {"projection": embeddings})
        step = judge(self.batch, outputs, self.teacher, self.weighting, NETWORKS)
        terms = [term for term in self.method.terms.values() if isinstance(term, Term)]
        loss = torch.stack([term.weighted(term(step)) for term in terms]).sum()
        found = {
            kind: torch.autograd.grad(loss, own, retain_graph=True, allow_unused=True, materialize_grads=True)
            for kind, own in leaves.items()
        }
        return {kind: torch.cat([each.flatten() for each in parts]) for kind, parts in found.items()}


def largest_jumps(*overrides: str, points: int = 200, looks: int = 4) -> dict[str, float]:
    """Where the gradient changes most it is looked at ever closer: a jump stays, a slope becomes small."""
    way = Way(*overrides)
    worst: dict[str, float] = {}
    places = torch.linspace(0, 1, points + 1).tolist()
    for kind in ("logits", "embeddings"):
        ends = [*pairwise(places)]
        for _ in range(looks):
            known = {place: way.gradient(place)[kind] for place in {*sum(ends, ())}}
            ends = sorted(ends, key=lambda pair: -float((known[pair[0]] - known[pair[1]]).abs().max()))[:4]
            worst[kind] = max(float((known[first] - known[last]).abs().max()) for first, last in ends)
            finer = [torch.linspace(*pair, 11, dtype=torch.float64).tolist() for pair in ends]
            ends = [pair for each in finer for pair in pairwise(each)]
    return worst
