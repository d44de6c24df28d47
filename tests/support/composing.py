"""Composes configurations as the command line does, for tests that run over everything in conf/."""

from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from hydra.utils import instantiate
from omegaconf import DictConfig

from smoothpl.config import describe
from smoothpl.config.compose import compose_config

OWN = (
    "data.root=.",
    "data.images_digest=a",
    "data.labels_digest=a",
    "data.num_classes=2",
    "data.size=8",
    "data.folds=5",
    "data.padding=1",
    "num_labels=4",
)
"""What is chosen for a folder of one's own by what lies there."""
options = describe.options
HEADS = ("linear", "mlp", "cosine")
"""Networks that need the features of a backbone."""
SMALL = (f"hydra.searchpath=['file://{Path(__file__).parent / 'conf'}']", "backbone=small")
"""A backbone without a file (tests/support/small_nets.py), in configurations that are composed here."""
TINY = ("max_steps=4", "eval_every=2", "log_every=2", "batch_size=4", "callbacks.progress=null", "pictures=false")
"""Drawing takes longer than such a run; tests of what is drawn ask for it."""


def composed(*overrides: str) -> DictConfig:
    return deepcopy(composed_once(overrides))


@cache
def composed_once(overrides: tuple[str, ...]) -> DictConfig:
    """Hydra takes a sixth of a second for it, and many tests begin with the same words."""
    return compose_config(overrides)


def ramps() -> list[str]:
    """The shapes that go with any policy; a Gaussian needs one that knows its width."""
    return [name for name in options("shape") if name != "gaussian"]


def build(group: str, option: str, *overrides: str) -> Any:
    """The part that a YAML describes. A power needs an exponent of its own."""
    extra = ["shape.mu=3"] if (group, option) == ("shape", "power") else []
    return instantiate(composed(f"{group}={option}", *extra, *overrides)[group])
