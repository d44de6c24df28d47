"""The factor loss L_Phi: the weak view learns to be surer (paper, Sec. 3.7)."""

from torch import Tensor

from smoothpl.losses import factor_loss
from smoothpl.nets.forwards import confidences_of
from smoothpl.nets.with_heads import base_of
from smoothpl.pseudo.labels import from_probabilities, probabilities
from smoothpl.pseudo.obstacles import Obstacle
from smoothpl.pseudo.shapes import Gaussian, slope_jumps
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.pseudo.weighting import Weighting
from smoothpl.terms.term import Term

WITHOUT = "factor_weight=0"


class Factor(Term):
    """-sg(Phi) Phi: the same weight once more, this time with its gradient."""

    def forward(self, step: TrainStep) -> Tensor:
        believed = confidences_of(base_of(step.network), step.outputs["weak"].logits)
        attached = from_probabilities(probabilities(believed), step.batch.image)
        return factor_loss(step.weighting(attached, step.outputs))

    def obstacles(self, weighting: Weighting) -> list[Obstacle]:
        """It differentiates the score itself, which has kinks where classes tie."""
        found = []
        if slope_jumps(weighting.shape):
            why = "factor_weight > 0 learns by a slope that does not vanish at the threshold (mu <= 1/2)"
            found.append(Obstacle(why, f"shape=linear or {WITHOUT}", (WITHOUT,)))
        lowest = max(weighting.floor, weighting.policy.lowest)
        if weighting.score == "margin":
            why = "factor_weight > 0 learns by the margin, which has a kink where the second and the third class tie"
            found.append(Obstacle(why, f"score=confidence threshold_floor=0.5 or {WITHOUT}", (WITHOUT,)))
        elif lowest < 0.5 or isinstance(weighting.shape, Gaussian):
            why = "factor_weight > 0 learns by the confidence, which has a kink where two classes tie"
            found.append(Obstacle(why, f"threshold_floor=0.5 or {WITHOUT}", (WITHOUT,)))
        return found
