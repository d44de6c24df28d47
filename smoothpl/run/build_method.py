"""From configuration to the parts of a method: teacher, weighting, terms."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from hydra.utils import get_class, instantiate
from omegaconf import DictConfig
from torch import nn

from smoothpl.errors import ConfigError, require
from smoothpl.pseudo import Weighting
from smoothpl.pseudo.mixing import Mix
from smoothpl.pseudo.obstacles import Obstacle
from smoothpl.pseudo.shapes import jumps
from smoothpl.pseudo.smoothness import all_obstacles
from smoothpl.pseudo.targets import Target
from smoothpl.pseudo.teachers import Ensemble, Live, Teacher
from smoothpl.terms.ascent import Ascent
from smoothpl.terms.factor import Factor
from smoothpl.terms.fairness import FairnessTerm
from smoothpl.terms.lesson import LESSON, Lesson
from smoothpl.terms.term import Term

NO_TERMS: Mapping[str, Term] = MappingProxyType({})
FACTOR, FAIRNESS = "factor", "fairness"


class Method(NamedTuple):
    """Without a weighting it learns from labels alone."""

    weighting: Weighting | None = None
    terms: Mapping[str, Term] = NO_TERMS
    teacher: Teacher | None = None
    mix: Mix | None = None
    target: Target | None = None
    ascent: Ascent | None = None

    @property
    def parts(self) -> list[nn.Module]:
        return [] if self.weighting is None else [self.weighting, *self.terms.values()]

    @property
    def remembers(self) -> bool:
        """Whether it has a memory, which is made for whole steps."""
        return any(True for part in self.parts for _ in part.state_dict())

    @property
    def obstacles(self) -> list[Obstacle]:
        """Why its loss is not continuously differentiable."""
        if self.weighting is None:
            return []
        return all_obstacles(self.weighting, self.target, *self.terms.values(), self.ascent)


def build_method(config: DictConfig) -> Method:
    """Refuses what is not smooth, if smooth=strict, and what lacks a view or a head."""
    if config.policy is None:
        return Method()
    weighting = build_weighting(config)
    try:
        method = Method(
            weighting,
            build_terms(config),
            instantiate(config.teacher) or Live(),
            instantiate(config.mix),
            instantiate(config.target),
            instantiate(config.ascent),
        )
    except ValueError as error:
        raise error if isinstance(error, ConfigError) else ConfigError(str(error)) from error
    check_needs(config, method)
    check_split(config, method)
    check_parts_of_step(config, method)
    check_slope(config, weighting)
    if config.smooth == "strict" and method.obstacles:
        raise ConfigError(f"smooth=strict, but the loss is not C1: {'; '.join(map(str, method.obstacles))}.")
    return method


def build_weighting(config: DictConfig) -> Weighting:
    try:
        return Weighting(
            policy=instantiate(config.policy),
            shape=instantiate(config.shape),
            alignment=instantiate(config.align),
            score=config.score,
            floor=config.threshold_floor,
            annealing=instantiate(config.annealing),
            balance=instantiate(config.balance),
            refine=[instantiate(each) for each in (config.refine or {}).values()],
        )
    except ValueError as error:
        raise ConfigError(str(error)) from error


def build_terms(config: DictConfig) -> dict[str, Term]:
    """In the order in which they are added up: the lesson first."""
    terms: dict[str, Term] = {}
    view = config.learned_view
    if view is not None:
        # auto: the weight is measured before a run, and set then
        weight = 1.0 if config.unlabeled_weight == "auto" else config.unlabeled_weight
        target, distance, ramp = (instantiate(config[name]) for name in ("target", "distance", "ramp"))
        terms[LESSON] = Lesson(target, view, distance, weight, ramp, config.learned_head)
    if config.factor_weight:
        terms[FACTOR] = Factor(config.factor_weight)
    if config.fairness is not None:
        terms[FAIRNESS] = FairnessTerm(instantiate(config.fairness), view)
    for name, each in (config.terms or {}).items():
        terms[str(name)] = instantiate(each)
    return terms


def check_needs(config: DictConfig, method: Method) -> None:
    """What a part needs, the method's YAML lists; a part that was added by hand needs it, too."""
    there = {*config.views_wanted, *(config.extra_heads or {}), *(config.refine or {}), "turned"}
    needy = {f"terms.{name}": term.needs for name, term in method.terms.items()} | {
        "teacher": method.teacher.needs if method.teacher else frozenset(),
        "mix": method.mix.needs if method.mix else frozenset(),
    }
    for name, each in (config.extra_heads or {}).items():
        needy[f"extra_heads.{name}"] = getattr(get_class(each.head._target_), "needs", frozenset())
    if method.weighting is not None:
        names = ["align", *(f"refine.{name}" for name in config.refine or ())]
        needy |= {name: part.needs for name, part in zip(names, method.weighting.refinements, strict=True)}
    require(
        config.score != "consensus" or isinstance(method.teacher, Ensemble),
        f"score=consensus is that of several draws, which the teacher of method={config.method} does not make; use "
        "teacher=ensemble, or score=confidence.",
    )
    for name, needs in needy.items():
        missing = sorted(needs - there)
        require(
            not missing,
            f"{name} needs {', '.join(missing)}, which method={config.method} does not have; add it to views_wanted "
            "(a view, or chance), to extra_heads (a head) or to refine (a memory).",
        )


def check_split(config: DictConfig, method: Method) -> None:
    learning = [name for name, term in method.terms.items() if term.weak_learns]
    require(
        config.forward != "split" or not learning,
        f"forward=split leaves the weak view without gradient, which terms.{'.'.join(learning[:1])} needs; use "
        "forward=joint.",
    )


def check_parts_of_step(config: DictConfig, method: Method) -> None:
    if config.accumulate == 1:
        return
    require(
        not method.remembers,
        f"accumulate={config.accumulate}: the memory of method={config.method} is made for whole steps; use "
        "accumulate=1, or a method without memory such as fixmatch or smooth.",
    )
    refinements = method.weighting.refinements if method.weighting is not None else []
    compares = method.mix is not None or any(part.whole_batch for part in (*method.terms.values(), *refinements))
    require(
        not compares,
        f"accumulate={config.accumulate}: method={config.method} compares the images of a whole step with each other; "
        "use accumulate=1, or a method that does not, such as fixmatch or smooth.",
    )


def check_slope(config: DictConfig, weighting: Weighting) -> None:
    """What needs a shape that rises, not one that jumps."""
    if not jumps(weighting.shape):
        return
    require(
        config.factor_weight == 0,
        f"factor_weight={config.factor_weight} has no effect with a shape that jumps: it has no slope to learn from; "
        "use shape=linear, or factor_weight=0.",
    )
    require(
        config.unlabeled_weight != "auto",
        "unlabeled_weight=auto compares a smooth shape with shape=step, and this shape jumps already; use 1.",
    )
