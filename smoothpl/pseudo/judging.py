"""From the outputs of a step to its pseudo-labels, what of them is taught, and how much each weighs."""

from collections.abc import Mapping

from smoothpl.data.batch import Batch
from smoothpl.nets.output import Output
from smoothpl.pseudo.labels import Beliefs, probabilities
from smoothpl.pseudo.teachers import Networks, Teacher
from smoothpl.pseudo.train_step import TrainStep
from smoothpl.pseudo.weighting import Weighting


def judge(
    batch: Batch, outputs: Mapping[str, Output], teacher: Teacher, weighting: Weighting, networks: Networks
) -> TrainStep:
    """The stop-gradient is behind the teacher, once for all that follows."""
    of_labeled = networks.believe(outputs["labeled"].logits)
    pseudo = teacher.label(batch, outputs, networks)
    beliefs = Beliefs(pseudo, probabilities(of_labeled.detach()), batch.label)
    weighting.see(beliefs, outputs)
    weight, lessons = weighting(pseudo, outputs), weighting.lessons(pseudo, outputs)
    return TrainStep(batch, outputs, beliefs, weight, lessons, networks.network, weighting)
