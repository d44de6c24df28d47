"""Finetuning: what it needs, and which numbers it takes."""

from typing import Any

from omegaconf import DictConfig

from smoothpl.config.checks.numbers import MOST
from smoothpl.config.checks.trainer import check_devices
from smoothpl.config.stages import of_network
from smoothpl.errors import require

MODES = ("norms", "last", "lora", "all")


def check_finetune(config: DictConfig) -> None:
    finetune, backbone = config.finetune, config.backbone
    if finetune is None:
        return
    require(finetune.mode in MODES, f"finetune.mode={finetune.mode} must be one of {', '.join(MODES)}.")
    require(
        backbone is not None,
        f"finetune={finetune.mode} needs a backbone to finetune; add for example backbone=efficientnet_lite0, or leave "
        "it out.",
    )
    require(
        len(backbone.encoders) == 1,
        f"finetune={finetune.mode} takes one backbone at a time, and there are {len(backbone.encoders)} "
        f"({', '.join(backbone.encoders)}); name one of them.",
    )
    for name in ("max_steps", "eval_every", "batch_size", "blocks", "unlabeled_ratio"):
        require(
            is_whole(finetune.get(name, 1), 1), f"finetune.{name}={finetune.get(name)} must be a positive whole number."
        )
    rank, alpha = finetune.get("rank", 1), finetune.get("alpha", 1)
    require(is_whole(rank, 0), f"finetune.rank={rank} must be a whole number from 0 up; 8 is usual, 0 adapts nothing.")
    require(
        isinstance(alpha, int | float) and alpha > 0, f"finetune.alpha={alpha} must be a positive number; 16 is usual."
    )
    check_devices(of_network(config))


def is_whole(value: Any, least: int) -> bool:
    return type(value) is int and least <= value <= MOST
