"""The knobs of a run: their types and their meanings, and where conf/ is. Their values live in YAML."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omegaconf import MISSING


def knob(meaning: str) -> Any:
    return field(default=MISSING, metadata={"meaning": meaning})


@dataclass
class TrainConfig:
    """Every top-level key of conf/train.yaml: first the plain knobs, then the parts, each a group of files in conf/."""

    benchmark: str = knob("data, network, schedule")
    method: str = knob("how unlabeled images are learned from")
    fold: int = knob("which images carry labels")
    seed: int = knob("weights, batches, views")
    num_labels: int | None = knob("how many images carry labels")
    labels_before: list[int] = knob("labels of the trained runs it goes on from")
    labels_until_pause: list[int] = knob("labels it had before (set by resume)")
    threshold: float | None = knob("tau: confidence where weight starts")
    threshold_floor: float = knob("lowest threshold of any policy")
    score: str = knob("against the threshold: confidence, margin")
    smooth: str = knob("strict: refuse a loss that is not C1")
    unlabeled_weight: float | int | str = knob("lambda_u: weight of unlabeled loss; auto")
    smooth_unlabeled_weight: float = knob("lambda_u of method=smooth")
    factor_weight: float = knob("lambda_Phi: weight of the factor loss")
    learned_view: str | None = knob("learns the pseudo-label: strong, weak")
    batch_size: int = knob("labeled images per step")
    unlabeled_ratio: int = knob("unlabeled images per labeled one")
    accumulate: int = knob("parts of a step, to save memory")
    forward: str = knob("joint, or split: weak view without gradient")
    compile: bool = knob("fuse a step (torch.compile)")
    deterministic: bool = knob("the same bits every time")
    tf32: bool = knob("faster, coarser products on a GPU")
    max_steps: int = knob("optimiser steps")
    eval_every: int = knob("steps between two looks at the test set")
    log_every: int = knob("steps between two log lines")
    checkpoint_every: int = knob("steps between two checkpoints")
    pictures: bool = knob("draw run.png and pseudo_labels.png")
    max_time: str | None = knob("hours:minutes:seconds, then save and stop")
    resume: str | None = knob("continue a run: its directory, or auto")
    resume_allow: list[str] = knob("what may differ from the resumed run")
    ema_decay: float = knob("decay of the weights evaluated; 0: live")
    norm_momentum: float = knob("momentum of BatchNorm's statistics")

    data: Any = None
    split: Any = None
    views: Any = None
    net: Any = None
    align: Any = None
    policy: Any = None
    shape: Any = None
    target: Any = None
    annealing: Any = None
    fairness: Any = None
    optim: Any = None
    trainer: Any = None
    logger: Any = None
    callbacks: Any = None


def conf_dir() -> Path:
    """conf/ stands beside the package in a checkout and inside it in a wheel."""
    package = Path(__file__).parents[1]
    installed = package / "conf"
    return installed if installed.is_dir() else package.parent / "conf"
