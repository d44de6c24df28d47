"""Ledger alignment: what is believed of all images at once, changed as little as class sizes demand (DARP)."""

from typing import final

import torch
from torch import Tensor

from smoothpl.errors import require
from smoothpl.pseudo.aligning import fit_classes, sizes_among_labels, sure_of_class
from smoothpl.pseudo.labels import Beliefs
from smoothpl.pseudo.obstacles import Obstacle
from smoothpl.pseudo.refinement import Outputs, Refinement

MOST_BYTES = 2 * 2**30
"""Of both tables, in float32."""


@final
class LedgerAlignment(Refinement):
    """Remembers the last probabilities of all N images; an image of a step gets its row of the aligned ones.

    From the share `start` of the run on, in every `every`-th step: of each class the `keep` M_c surest entries stay,
    M_c the number of images it should have, and `fit_classes` finds the rows nearest to them with these sums. M_c is N
    times the share of the class among the labels. In between, rows are those of the last time.

    Which step it is, is known to the host: it need not ask the device whether to align.
    """

    from_network = True

    def __init__(
        self,
        num_classes: int,
        max_steps: int,
        start: float = 0.4,
        every: int = 10,
        keep: float = 2.0,
        rounds: int = 10,
    ) -> None:
        super().__init__()
        name = "refine.ledger_alignment"
        require(0 <= start <= 1, f"{name}.start={start} must lie in [0, 1]: a share of the run; DARP's is 0.4.")
        require(
            every >= 1 and rounds >= 1, f"{name}: every={every} and rounds={rounds} must be positive; DARP's are 10."
        )
        require(
            keep > 0, f"{name}.keep={keep} must be positive: entries that stay, by the size of a class; DARP's is 2."
        )
        self.num_classes, self.every, self.keep, self.rounds = num_classes, every, keep, rounds
        self.first = round(start * max_steps)
        self.num_steps = 0
        self.ledger: Tensor  # (N, C)
        self.aligned: Tensor  # (N, C)
        self.wanted: Tensor  # (C,) their shares
        self.register_buffer("wanted", torch.full((num_classes,), 1 / num_classes))
        self.num_kept: list[int] = []
        self.begin(1)

    def begin(self, num_unlabeled: int) -> None:
        for name in ("ledger", "aligned"):
            rows = torch.full((num_unlabeled, self.num_classes), 1 / self.num_classes, device=self.wanted.device)
            self.register_buffer(name, rows)

    def prepare(self, labeled_per_class: Tensor) -> None:
        self.wanted.copy_(sizes_among_labels(labeled_per_class, "ledger_alignment"))

    def prepare_images(self, num_unlabeled: int, num_labeled: int) -> None:
        """Called again for as many images it keeps its memory; for another number of them it begins anew."""
        size = 2 * 4 * num_unlabeled * self.num_classes
        require(
            size <= MOST_BYTES,
            f"refine=[ledger_alignment] remembers {num_unlabeled:,} images x {self.num_classes:,} classes twice, "
            f"{size / 2**30:.1f} GB; use refine=[dual_alignment], which remembers a number for every class.",
        )
        if len(self.ledger) != num_unlabeled:
            self.begin(num_unlabeled)
        self.num_kept = [int(self.keep * num_unlabeled * share) for share in self.wanted.tolist()]

    def see(self, beliefs: Beliefs) -> None:
        image, probabilities = beliefs.unlabeled.image, beliefs.unlabeled.probabilities
        assert image is not None, "LedgerAlignment must know which image is which: pseudo_labels(logits, image)"
        assert self.num_kept, "LedgerAlignment must know the labels: prepare(num_unlabeled, labeled_per_class)"
        # Of the occurrences of an image, all write the row of the last one.
        order = image.argsort(stable=True)
        last = torch.searchsorted(image[order], image[order], right=True) - 1
        self.ledger[image[order]] = probabilities[order][last]
        if self.num_steps >= self.first and (self.num_steps - self.first) % self.every == 0:
            sizes = self.wanted * len(self.ledger)
            self.aligned.copy_(fit_classes(sure_of_class(self.ledger, sizes, self.num_kept), sizes, self.rounds))
        self.num_steps += 1

    def refine(self, probabilities: Tensor, outputs: Outputs | None, image: Tensor | None) -> Tensor:
        return probabilities if image is None or self.num_steps <= self.first else self.aligned[image]

    def get_extra_state(self) -> Tensor:
        return torch.tensor(self.num_steps)

    def set_extra_state(self, state: Tensor) -> None:
        self.num_steps = int(state)

    def obstacles(self) -> list[Obstacle]:
        why = "refine=[ledger_alignment] keeps the surest entries of a class and drops the next"
        return [Obstacle(why, "refine=[dual_alignment]", ("refine=[dual_alignment]",))]
