"""From config to parts: the only place where YAML becomes objects."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import torch
from hydra.utils import get_class, instantiate
from lightning import Callback, Trainer
from lightning.pytorch.loggers import Logger
from omegaconf import DictConfig
from torch import nn

from smoothpl.data import SemiSupervisedData, Steps
from smoothpl.errors import ConfigError
from smoothpl.loggers import Curves, Mirror
from smoothpl.module import SemiSupervisedModule
from smoothpl.pseudo import Weighting, obstacles


def build_data(config: DictConfig) -> SemiSupervisedData:
    """Reads nothing yet: images are opened when training starts."""
    return SemiSupervisedData(
        source=instantiate(config.data.source),
        split=instantiate(config.split),
        steps=partial(
            Steps,
            batch_size=config.batch_size,
            unlabeled_ratio=config.unlabeled_ratio,
            max_steps=config.max_steps,
            seed=config.seed,
        ),
        views=instantiate(config.views, _convert_="all"),
        num_classes=config.data.num_classes,
        num_workers=config.data.num_workers,
    )


def build_network(net: DictConfig, begins: bool = True) -> nn.Module:
    """Without the weights that a run would begin with, where others take their place: their file may be gone."""
    began = {} if begins else {name: None for name in ("weights", "init_from") if name in net}
    # Channels last: the layout that convolutions are fastest in, on CPUs as on tensor cores.
    network: nn.Module = instantiate(net, **began).to(memory_format=torch.channels_last)
    return network


def build_module(config: DictConfig, begins: bool = True) -> SemiSupervisedModule:
    labels_only = config.policy is None
    weighting = None if labels_only else build_weighting(config)
    fairness = instantiate(config.fairness)
    remembers = any(True for part in (weighting, fairness) if part is not None for _ in part.buffers())
    if config.accumulate > 1 and remembers:
        raise ConfigError(
            f"accumulate={config.accumulate}: the memory of method={config.method} is made for whole steps; use "
            "accumulate=1, or a method without memory such as fixmatch or smooth."
        )
    module = SemiSupervisedModule(
        network=build_network(config.net, begins),
        optimizer=instantiate(config.optim),
        num_classes=config.data.num_classes,
        weighting=weighting,
        target=instantiate(config.target),
        unlabeled_weight=1.0 if config.unlabeled_weight == "auto" else config.unlabeled_weight,  # auto: see train
        factor_weight=config.factor_weight,
        fairness=fairness,
        split_forward=config.forward == "split",
        log_every=config.log_every,
    )
    if config.compile:
        module.compile_step()
    return module


def build_weighting(config: DictConfig) -> Weighting:
    """Refuses what is not smooth, if smooth=strict."""
    parts = {name: instantiate(config[name]) for name in ("policy", "shape")}
    try:
        weighting = Weighting(
            **parts,
            alignment=instantiate(config.align),
            score=config.score,
            floor=config.threshold_floor,
            annealing=instantiate(config.annealing),
        )
    except ValueError as error:
        raise ConfigError(str(error)) from error
    reasons = obstacles(weighting, instantiate(config.target), instantiate(config.fairness))
    if config.smooth == "strict" and reasons:
        raise ConfigError(f"smooth=strict, but the loss is not C1: {'; '.join(reasons)}.")
    return weighting


def check_loggers(config: DictConfig) -> None:
    for settings in (config.logger or {}).values():
        mirror: type[Mirror] = get_class(settings._target_)
        mirror.check(settings)


def build_loggers(config: DictConfig, run_dir: Path) -> list[Logger] | bool:
    """The curves, and whatever mirrors them."""
    if config.logger is None:
        return False
    mirrors = [instantiate(settings)(save_dir=run_dir, config=config) for settings in config.logger.values()]
    return [Curves(run_dir), *mirrors]


def build_trainer(
    config: DictConfig, run_dir: Path, first: Sequence[Callback] = (), last: Sequence[Callback] = ()
) -> Trainer:
    """With the callbacks of the config between the `first` and the `last` ones."""
    # With deterministic=true, torch fills all new memory, lest somebody reads what nobody wrote: a twentieth of a step.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    wanted = [callback for callback in instantiate(config.callbacks).values() if callback is not None]
    trainer: Trainer = instantiate(
        config.trainer,
        default_root_dir=run_dir,
        logger=build_loggers(config, run_dir),
        callbacks=[*first, *wanted, *last],
    )
    return trainer
