"""The knobs of a run: their types, and where conf/ is. Values and meanings stand in conf/train.yaml."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import MISSING


@dataclass
class TrainConfig:
    """Every top-level key: first the plain knobs, in the order of conf/train.yaml, then the parts, each a group."""

    benchmark: str = MISSING
    method: str = MISSING
    fold: int = MISSING
    seed: int = MISSING
    num_labels: int | None = MISSING
    labels_before: list[int] = MISSING
    labels_until_pause: list[int] = MISSING
    threshold: float | None = MISSING
    threshold_floor: float = MISSING
    score: str = MISSING
    smooth: str = MISSING
    unlabeled_weight: float | int | str = MISSING
    smooth_unlabeled_weight: float = MISSING
    factor_weight: float = MISSING
    learned_view: str | None = MISSING
    learned_head: str | None = MISSING
    views_wanted: list[str] = MISSING
    labeled_weight: float | None = MISSING
    batch_size: int = MISSING
    unlabeled_ratio: int = MISSING
    accumulate: int = MISSING
    forward: str = MISSING
    compile: bool = MISSING
    deterministic: bool = MISSING
    tf32: bool = MISSING
    max_steps: int = MISSING
    eval_every: int = MISSING
    log_every: int = MISSING
    checkpoint_every: int = MISSING
    max_time: str | None = MISSING
    minutes: float | int | None = MISSING
    choose_on: int = MISSING
    ema_decay: float = MISSING
    norm_momentum: float = MISSING
    pictures: bool = MISSING
    resume: str | None = MISSING
    resume_allow: list[str] = MISSING

    data: Any = None
    split: Any = None
    unlabeled: Any = None
    views: Any = None
    backbone: Any = None
    head: Any = None
    finetune: Any = None
    net: Any = None
    align: Any = None
    policy: Any = None
    shape: Any = None
    target: Any = None
    annealing: Any = None
    balance: Any = None
    fairness: Any = None
    teacher: Any = None
    refine: Any = None
    distance: Any = None
    ramp: Any = None
    mix: Any = None
    ascent: Any = None
    extra_heads: Any = None
    terms: Any = None
    optim: Any = None
    trainer: Any = None
    logger: Any = None
    callbacks: Any = None
    verdict: Any = None


def conf_dir() -> Path:
    """conf/ stands beside the package in a checkout and inside it in a wheel."""
    package = Path(__file__).parents[1]
    installed = package / "conf"
    return installed if installed.is_dir() else package.parent / "conf"
