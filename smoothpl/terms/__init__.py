"""Terms: what the parts of a method add to the loss of a step."""

from smoothpl.terms.adversarial import Adversarial
from smoothpl.terms.ascent import Ascent
from smoothpl.terms.balanced import Balanced
from smoothpl.terms.between_views import BetweenViews
from smoothpl.terms.complement import Complement
from smoothpl.terms.entropy import Entropy
from smoothpl.terms.factor import Factor
from smoothpl.terms.fairness import FairnessTerm
from smoothpl.terms.far import Far
from smoothpl.terms.graph import Graph
from smoothpl.terms.instance import Instance
from smoothpl.terms.labeled import LabeledLesson, LabeledView
from smoothpl.terms.lesson import Lesson
from smoothpl.terms.meaning import Meaning
from smoothpl.terms.mixed import MixedLabels, MixedLesson
from smoothpl.terms.negative import Negative
from smoothpl.terms.pairs import Pairs
from smoothpl.terms.prototype import Prototype
from smoothpl.terms.rotation import FourTurns, Rotation
from smoothpl.terms.term import Term
from smoothpl.terms.worst_case import WorstCase

__all__ = [
    "Adversarial",
    "Ascent",
    "Balanced",
    "BetweenViews",
    "Complement",
    "Entropy",
    "Factor",
    "FairnessTerm",
    "Far",
    "FourTurns",
    "Graph",
    "Instance",
    "LabeledLesson",
    "LabeledView",
    "Lesson",
    "Meaning",
    "MixedLabels",
    "MixedLesson",
    "Negative",
    "Pairs",
    "Prototype",
    "Rotation",
    "Term",
    "WorstCase",
]
