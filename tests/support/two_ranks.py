"""One of two ranks, with its half of every step."""

from pathlib import Path

import torch
from torch import distributed

from smoothpl.pseudo import Beliefs, PseudoLabels, Weighting
from smoothpl.ranks import of_all_ranks, share_mean
from smoothpl.run.build_method import build_weighting
from tests.support.composing import composed
from tests.support.steps import CLASSES, IMAGES, random_steps


def half(beliefs: Beliefs, rank: int) -> Beliefs:
    """The rows of one rank: the first or the second half, as the data hand them out."""
    parts = [None if each is None else each.chunk(2)[rank] for each in beliefs.unlabeled]
    return Beliefs(PseudoLabels(*parts), beliefs.labeled.chunk(2)[rank], beliefs.label.chunk(2)[rank])  # type: ignore[arg-type]


def follow(weighting: Weighting, rank: int | None) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    weighting.prepare(IMAGES, torch.full((CLASSES,), 4))
    for whole in random_steps(60):
        beliefs = whole if rank is None else half(whole, rank)
        weighting.see(beliefs)
        weight = weighting(beliefs.unlabeled)
        weighting.observe(beliefs.unlabeled, weight)
    return weighting.state_dict(), weight


def main(folder: str, rank: int, port: str, *methods: str) -> None:
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    sums = torch.tensor([rank + 1.0, 10.0 * rank])
    share_mean(sums)
    rows = Beliefs(PseudoLabels(*torch.full((3, 1), rank)), torch.eye(2)[[rank]], torch.tensor([rank]))
    torch.save((sums, tuple(of_all_ranks(rows))), Path(folder) / f"shared{rank}.pt")
    for method in methods:
        followed = follow(build_weighting(composed(*f"method={method}".split())), rank)
        torch.save(followed, Path(folder) / f"{method}{rank}.pt")
    distributed.destroy_process_group()
