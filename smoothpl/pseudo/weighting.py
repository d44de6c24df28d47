"""Refinements x policy x shape: the weight of every pseudo-label of a step, and what is taught."""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from smoothpl.data.batch import Batch
from smoothpl.pseudo.alignment import Alignment, Unaligned
from smoothpl.pseudo.annealing import Annealing
from smoothpl.pseudo.balance import Balance
from smoothpl.pseudo.labels import Beliefs, PseudoLabels, from_probabilities
from smoothpl.pseudo.obstacles import SHAPE_JUMPS, Obstacle
from smoothpl.pseudo.policies import ThresholdPolicy
from smoothpl.pseudo.refinement import Outputs, Refinement
from smoothpl.pseudo.shapes import AnyShape, Gaussian, jumps
from smoothpl.ranks import of_all_ranks


class Weighting(nn.Module):
    """In one step: `see` it, ask for `lessons` and their weights, `observe` what came of it.

    `score` is what the threshold is held against: the confidence in the dominant class, or its margin over the second,
    which vanishes where two classes tie, or the consensus of several draws of a teacher, which for one draw is its
    confidence. `floor` is the lowest threshold, whatever the policy says. With `annealing` labeled images have weights,
    too; with `balance` images of rare classes weigh more, labeled or not.
    """

    def __init__(
        self,
        policy: ThresholdPolicy,
        shape: AnyShape,
        alignment: Alignment | None = None,
        score: Literal["confidence", "margin", "consensus"] = "confidence",
        floor: float = 0.0,
        annealing: Annealing | None = None,
        refine: Sequence[Refinement] = (),
        balance: Balance | None = None,
    ) -> None:
        super().__init__()
        self.policy = policy
        self.shape = shape
        self.alignment = Unaligned() if alignment is None else alignment
        self.further = nn.ModuleList(refine)
        self.score = score
        self.floor = floor
        self.annealing = annealing
        self.balance = balance
        if isinstance(shape, Gaussian) and policy.spread is None:
            raise ValueError("shape=gaussian takes its width from a policy that knows one; use policy=running with it.")
        if isinstance(shape, Gaussian) and annealing is not None:
            raise ValueError("annealing with shape=gaussian has no width; use another shape, or annealing=none.")
        before = None if isinstance(self.alignment, Unaligned) else "align"
        for each in refine:
            if each.from_network and before is not None:
                raise ValueError(
                    f"refine: {type(each).__name__} remembers what the network believes, and {before} would correct "
                    "that before; use align=none, and put it first."
                )
            before = type(each).__name__
        if score not in ("confidence", "margin", "consensus"):
            raise ValueError(f"score={score} must be confidence or margin, or consensus with teacher=ensemble.")

    @property
    def refinements(self) -> list[Refinement]:
        """In their order; alignment is the first."""
        return [self.alignment, *self.further]

    def prepare(
        self, num_unlabeled: int, labeled_per_class: Tensor | None = None, num_labeled: int | None = None
    ) -> None:
        """Called once, before training, with the sizes of the fold; `num_labeled` if more are learned with labels."""
        self.policy.prepare(num_unlabeled)
        if self.balance is not None:
            self.balance.prepare(num_unlabeled, labeled_per_class)
        if labeled_per_class is not None:
            self.policy.prepare_labels(labeled_per_class)
            for each in self.refinements:
                each.prepare(labeled_per_class)
                each.prepare_images(num_unlabeled, num_labeled or int(labeled_per_class.sum()))

    def see(self, beliefs: Beliefs, outputs: Outputs | None = None) -> None:
        """Called before the weights of a step are asked for. `outputs`: for refinements that look at features."""
        if self.annealing is not None:
            self.annealing.see()
        of_all = of_all_ranks(beliefs)
        for each in self.refinements:
            each.see(of_all)
        refined = self.refined(beliefs.unlabeled, outputs)
        self.policy.see(of_all if refined is beliefs.unlabeled else of_all._replace(unlabeled=of_all_ranks(refined)))

    def refined(self, pseudo: PseudoLabels, outputs: Outputs | None = None, to_teach: bool = False) -> PseudoLabels:
        """`to_teach`: without those that weigh only; otherwise without those that are taught only."""
        wanted = [each for each in self.refinements if not isinstance(each, Unaligned)]
        wanted = [each for each in wanted if (each.teaches if to_teach else each.weighs)]
        if not wanted:
            return pseudo
        probabilities = pseudo.probabilities
        for each in wanted:
            probabilities = each.refine(probabilities, outputs, pseudo.image)
        return from_probabilities(probabilities, pseudo.image, pseudo.consensus)

    def forward(self, pseudo: PseudoLabels, outputs: Outputs | None = None) -> Tensor:
        """-> weight (U,) in [0, 1]."""
        waits = self.policy.waits
        weight = self.above_threshold(self.policy.taught(self.refined(pseudo, outputs)))
        return weight if waits is None else torch.where(waits, 0, weight)

    def above_threshold(self, pseudo: PseudoLabels) -> Tensor:
        """-> weight (U,) by score and threshold alone."""
        return self.weigh(self.scored(pseudo), self.policy(pseudo))

    def scored(self, pseudo: PseudoLabels) -> Tensor:
        """-> (U,) what is held against the threshold."""
        if self.score == "margin":
            return margin(pseudo.probabilities)
        together = pseudo.consensus if self.score == "consensus" else None
        return pseudo.confidence if together is None else together

    def weigh(self, score: Tensor, threshold: Tensor) -> Tensor:
        """Phi, also for terms that cut by thresholds of their own: score (...), threshold (...) -> weight (...)."""
        threshold = threshold.clamp(min=self.floor)
        if isinstance(self.shape, Gaussian):
            assert self.policy.spread is not None
            return self.shape(score, threshold, self.policy.spread)
        return self.shape(score, threshold)

    def balanced(self, weight: Tensor, pseudo: PseudoLabels) -> Tensor:
        """weight (U,) of Phi -> weight (U,) of a lesson, which is more than 1 where a class is rare."""
        return weight if self.balance is None else weight * self.balance.of_pseudo_label[pseudo.label]

    def of_labeled(self, probabilities: Tensor, label: Tensor) -> Tensor | None:
        """probabilities (B, C) of labeled images, detached -> weight (B,), or None if all weigh 1."""
        weight = self.held_back(probabilities, label)
        if self.balance is None:
            return weight
        by_class = self.balance.of_label[label]
        return by_class if weight is None else weight * by_class

    def held_back(self, probabilities: Tensor, label: Tensor) -> Tensor | None:
        """-> weight (B,) by annealing alone.

        As published, the loss is a mean over the images that are not held back: these weigh accordingly more.
        """
        if self.annealing is None or isinstance(self.shape, Gaussian):
            return None
        doubt = 1 - probabilities.gather(1, label.unsqueeze(1)).squeeze(1)
        weight = self.shape(doubt, (1 - self.annealing()).expand_as(doubt))
        of_all: Tensor = of_all_ranks(weight)
        return weight * len(of_all) / of_all.sum().clamp(min=1)

    def lessons(self, pseudo: PseudoLabels, outputs: Outputs | None = None) -> PseudoLabels:
        """What the target is made of."""
        return self.policy.taught(self.refined(pseudo, outputs, to_teach=True))

    def for_learning(self, logits: Tensor) -> Tensor:
        """(..., C) logits of the view that learns -> those that the lesson compares with its target."""
        for each in self.refinements:
            logits = each.for_learning(logits)
        return logits

    def observe(
        self, pseudo: PseudoLabels, weight: Tensor, outputs: Outputs | None = None, batch: Batch | None = None
    ) -> None:
        """Called after the weights of a step were used."""
        self.policy.observe(of_all_ranks(self.refined(pseudo, outputs)), of_all_ranks(weight))
        if self.balance is not None:
            self.balance.observe(of_all_ranks(pseudo))
        probabilities = pseudo.probabilities
        if outputs is None or batch is None or not len(self.further):
            return
        for each in self.refinements:
            before, probabilities = probabilities, each.refine(probabilities, outputs, pseudo.image)
            each.observe(before, outputs, batch)

    def obstacles(self, is_hard: bool) -> list[Obstacle]:
        """`is_hard`: something takes the dominant class for granted, which jumps where two classes tie.

        That is at confidence 1/2 or less, and a threshold by class jumps there, too: there the weight must be 0.
        """
        found, lowest = [], max(self.floor, self.policy.lowest)
        if jumps(self.shape) and self.policy.is_reached:
            found.append(SHAPE_JUMPS)
        if is_hard and isinstance(self.shape, Gaussian):
            why = "shape=gaussian keeps weight where two classes tie and a hard target jumps"
            found.append(Obstacle(why, "target=soft", ("target=soft",)))
        if (is_hard or self.balance is not None) and not self.alignment.teaches:
            why = "weights are aligned and hard targets are not, they tie elsewhere"
            found.append(Obstacle(why, "align.teaches=true", ("align.teaches=true",)))
        by_class = self.policy.by_class or self.balance is not None
        if self.balance is not None:
            found += self.balance.obstacles()
            if isinstance(self.shape, Gaussian):
                why = "shape=gaussian keeps weight where two classes tie and weights by class jump"
                found.append(Obstacle(why, "shape=linear", ("shape=linear",)))
        can_tie = not isinstance(self.shape, Gaussian) and self.score != "margin" and lowest < 0.5
        if (is_hard or by_class) and can_tie:
            of_class = "a threshold by class" if self.policy.by_class else "a weight by class"
            what = "a hard target" if is_hard else of_class
            way_out = "threshold_floor=0.5 or score=margin" + ("" if by_class else " or target=soft")
            why = f"thresholds go down to {lowest:.3g}, below 1/2, where {what} jumps at ties"
            found.append(Obstacle(why, way_out, ("score=margin",)))
        if self.policy.jumps:
            why, _, way_out = self.policy.jumps.rpartition(": use ")
            found.append(Obstacle(why or self.policy.jumps, way_out, tuple(way_out.split())))
        return found + [obstacle for each in self.refinements for obstacle in each.obstacles()]


def margin(probabilities: Tensor) -> Tensor:
    """(U, C) -> (U,): how far the first class is ahead of the second."""
    first, second = probabilities.topk(2, dim=1).values.unbind(dim=1)
    return first - second
