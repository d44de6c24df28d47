"""The configurations of runs that stand beside a run to judge it: its twin, and both of them part by part."""

from copy import deepcopy
from typing import Any

from omegaconf import DictConfig, OmegaConf, open_dict

from smoothpl.config.checks.verdict import trains_quickly
from smoothpl.config.knobs import conf_dir
from smoothpl.config.method_parts import FURTHER_PARTS, OF_PSEUDO_LABELS
from smoothpl.config.recipe import WATCHING
from smoothpl.data.parts import Part
from smoothpl.run.resume import AUTO

PLAIN_KNOBS = (
    *("threshold_floor", "score", "smooth", "factor_weight", "forward", "views_wanted", "labeled_weight"),
    "learned_head",
)
"""Plain knobs that no method sets: in the twin they are as in conf/train.yaml."""


def labels_only(config: DictConfig) -> DictConfig:
    """The twin: the same run by method=supervised, whatever was typed for pseudo-labels.

    Made by editing, not by composing again: a method may set more than its parts, and the twin must differ in nothing
    but what it learns from.
    """
    twin = deepcopy(config)
    usual, method = (written(name) for name in ("train.yaml", "method/supervised.yaml"))
    for name in (*OF_PSEUDO_LABELS, *FURTHER_PARTS):
        twin[name] = None
    for name in PLAIN_KNOBS:
        twin[name] = usual[name]
    for name in method.keys() - {"defaults"}:
        twin[name] = method[name]
    if "coverage" in twin.callbacks:
        twin.callbacks.coverage = None
    if OmegaConf.select(twin, "callbacks.collapse.by") == "unlabeled":  # of which it sees none
        twin.callbacks.collapse.by = "test"
    return twin


def written(name: str) -> dict[str, Any]:
    """A YAML in conf/ as it stands there."""
    found = OmegaConf.to_container(OmegaConf.load(conf_dir() / name))
    assert isinstance(found, dict)
    return {str(key): value for key, value in found.items()}


def of_part(config: DictConfig, part: Part) -> DictConfig:
    """The same run with another part of the labeled images held out, in place of the test images if there are any."""
    other = deepcopy(config)
    if config.data.get("folds"):
        assert config.data.folds == part.folds
        other.fold = part.fold
        return other
    with open_dict(other.data):
        other.data.held_out = part._asdict()
    return other


def lean(config: DictConfig, equilibrium: dict[str, float | None], keeps_photographs: bool = False) -> DictConfig:
    """Without all that only watches, evaluated at the end; begun from scratch, and continued if it was begun before.

    `equilibrium`: what the run has measured of its losses, which is not measured again.
    """
    beside = deepcopy(config)
    is_short = trains_quickly(config)
    for name in dispensable(config, is_short):
        beside.callbacks[name] = None
    if beside.callbacks.get("coverage") is not None:
        beside.callbacks.coverage.every = config.callbacks.coverage.every  # which is that of the run's evaluations
    beside.logger, beside.verdict, beside.pictures = None, None, keeps_photographs
    beside.compile, beside.max_time, beside.resume = False, None, AUTO
    beside.labels_before, beside.labels_until_pause = [], []
    beside.eval_every, beside.checkpoint_every = config.max_steps, config.checkpoint_every
    if is_short:
        beside.log_every = beside.checkpoint_every = config.max_steps
    if config.finetune is not None:
        beside.finetune.eval_every = config.finetune.max_steps
    if beside.unlabeled_weight == "auto":
        beside.unlabeled_weight = equilibrium["unlabeled_weight"]
    return beside


def dispensable(config: DictConfig, is_short: bool) -> list[str]:
    """Callbacks that change nothing; a run that takes long shows how far it is."""
    watching = {each.partition(".")[2] for each in WATCHING if each.startswith("callbacks.")}
    repairs = OmegaConf.select(config, "callbacks.coverage.action") == "repair"
    kept = {*(["coverage"] if repairs else []), *([] if is_short else ["progress"])}
    return sorted(watching & {*map(str, config.callbacks)} - kept)
