"""The second stage of a run: the backbone learns on, from where the head has got to on frozen features."""

from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from omegaconf import DictConfig
from torch import nn

from smoothpl.cli.messages import say
from smoothpl.config.overrides import key_of
from smoothpl.config.stages import of_head
from smoothpl.errors import ConfigError, require
from smoothpl.io.memory import spelled
from smoothpl.layout import HEAD, LAST_CHECKPOINT, RECORD
from smoothpl.nets.finetuning.whole import WholeNetwork
from smoothpl.nets.memory import BYTES, kept_per_image, num_parameters
from smoothpl.run.memory import images_at_once, memory_of_device, way_out
from smoothpl.run.step_time import images_of_step, seconds_of_step, spell

if TYPE_CHECKING:
    from smoothpl.module import SemiSupervisedModule


def head_run(config: DictConfig, run_dir: Path) -> tuple[DictConfig, Path]:
    """The configuration of the first stage, and its directory; a run that was begun there is continued."""
    place = run_dir / HEAD
    head = of_head(config)
    head.resume = str(place) if (place / RECORD).is_file() else None
    return head, place


def words_of_head(overrides: list[str]) -> list[str]:
    """What one would have typed for the first stage alone."""
    return [word for word in overrides if key_of(word).partition(".")[0] != "finetune"]


def take_head(module: "SemiSupervisedModule", place: Path) -> None:
    """The averaged head of the first stage is where both networks of the second one start."""
    path = place / LAST_CHECKPOINT
    if not path.is_file():
        raise ConfigError(
            f"{path} is not there, the head that finetuning starts from; with several processes that were not started "
            "by smoothpl itself, train the head first: the same command on one device, stopped when it is trained."
        )
    state = torch.load(path, weights_only=True, map_location="cpu")["state_dict"]
    own = {key.removeprefix("average."): value for key, value in state.items() if key.startswith("average.")}
    for network in (module.network, module.average):
        assert isinstance(network, WholeNetwork)
        network.head.load_state_dict(own)


def announce(stage: DictConfig, network: WholeNetwork, first_step: int = 0) -> None:
    """What learns, how long it will take, and how much memory, before anything is done. On a GPU no time: the first
    steps will tell."""
    num_steps, side = stage.max_steps - first_step, network.came_as.size
    cost = []
    if stage.trainer.accelerator == "cpu" or not torch.accelerator.is_available():
        cost.append("about " + spell(seconds_of_step(stage, network) * num_steps))
    if (needed := memory_of_step(stage, network)) is not None:
        cost.append(f"at least {spelled(needed)} of memory")
    say(
        f"finetune={stage.finetune.mode}: after the head, {what_learns(stage, network)} learn; {num_steps:,} steps of "
        f"{images_of_step(stage):,} images, each {side} x {side} pixels" + (f": {' and '.join(cost)}." if cost else ".")
    )


def what_learns(stage: DictConfig, network: WholeNetwork) -> str:
    learning = num_learning(network.backbone)
    others = num_parameters(network.backbone) - learning
    if stage.finetune.mode == "lora":
        return f"{learning:,} weights beside the {others:,} of {network.came_as.name}"
    return f"{learning:,} of the {learning + others:,} weights of {network.came_as.name}"


def num_learning(network: nn.Module) -> int:
    return sum(each.numel() for each in network.parameters() if each.requires_grad)


def memory_of_step(stage: DictConfig, network: WholeNetwork) -> float | None:
    """Bytes, at the least; None if it cannot be had without computing."""
    side = network.came_as.size
    try:
        of_image = kept_per_image(deepcopy(network).to("meta"), 3, side, side)
    except Exception:  # a network that looks at its numbers
        return None
    # Both networks, and of what learns, gradient and momentum.
    return images_at_once(stage) * of_image + BYTES * 2 * (num_parameters(network) + num_learning(network))


def check_memory(stage: DictConfig, network: WholeNetwork, remembers: bool) -> None:
    """`remembers`: the method has a memory, which cannot be computed in parts."""
    memory, needed = memory_of_device(stage), memory_of_step(stage, network)
    if memory is None or needed is None:
        return
    require(
        needed <= memory,
        f"finetune.batch_size={stage.batch_size} finetune.unlabeled_ratio={stage.unlabeled_ratio}: a step would take "
        f"at least {spelled(needed)} of memory, and there are {spelled(memory)}; "
        f"{way_out(stage, remembers, needed / memory)}.",
    )
