"""From configuration to objects: data, module, trainer, loggers."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import cast

import torch
from hydra.utils import get_class, instantiate
from lightning import Callback, Trainer
from lightning.pytorch.loggers import Logger
from omegaconf import DictConfig
from torch import Tensor, nn

from smoothpl.data import Fold, SemiSupervisedData, Steps, given
from smoothpl.data.folder.scan import Scan
from smoothpl.errors import ConfigError, require
from smoothpl.loggers import Curves, ExternalLogger
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.build import build_network
from smoothpl.pseudo import Weighting, obstacles
from smoothpl.pseudo.smoothness import jumps
from smoothpl.run.memory import check_classes


def build_data(config: DictConfig, scan: Scan | None = None) -> SemiSupervisedData:
    """Reads nothing yet: images are opened when training starts. `scan`: the folder, if it was looked at already."""
    source = instantiate(config.data.source)
    return SemiSupervisedData(
        source=source if scan is None else partial(source, scan=scan),
        split=build_split(config),
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


def build_split(config: DictConfig) -> Callable[[Tensor], Fold]:
    """Refused here, before any image is read, if it has a check of its own and does not pass."""
    split = instantiate(config.split)
    function = split.func if isinstance(split, partial) else split  # one of one's own may be an object
    require(
        (function is given) == ("num_labels" in config.data.source),
        f"split={last_part(config.split)} and data={last_part(config.data.source)}: labels that somebody has given "
        "need split=given, and only data=folder has such labels; use both or neither.",
    )
    if isinstance(split, partial) and hasattr(function, "check"):
        function.check(**split.keywords)
    return cast(Callable[[Tensor], Fold], split)


def last_part(part: DictConfig) -> str:
    """The name of what a part calls, for messages."""
    return str(part._target_).rpartition(".")[2]


def build_module(config: DictConfig, with_pretrained: bool = True) -> SemiSupervisedModule:
    check_classes(config)
    labels_only = config.policy is None
    weighting = None if labels_only else build_weighting(config)
    fairness = instantiate(config.fairness)
    if config.accumulate > 1 and remembers(weighting, fairness):
        raise ConfigError(
            f"accumulate={config.accumulate}: the memory of method={config.method} is made for whole steps; use "
            "accumulate=1, or a method without memory such as fixmatch or smooth."
        )
    module = SemiSupervisedModule(
        network=build_network(config.net, with_pretrained),
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


def remembers(weighting: Weighting | None, fairness: nn.Module | None) -> bool:
    """Whether a method has a memory, which is made for whole steps."""
    return any(True for part in (weighting, fairness) if part is not None for _ in part.buffers())


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
    check_slope(config, weighting)
    reasons = obstacles(weighting, instantiate(config.target), instantiate(config.fairness))
    if config.smooth == "strict" and reasons:
        raise ConfigError(f"smooth=strict, but the loss is not C1: {'; '.join(reasons)}.")
    return weighting


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


def check_loggers(config: DictConfig) -> None:
    for settings in (config.logger or {}).values():
        logger: type[ExternalLogger] = get_class(settings._target_)
        logger.check(settings)


def build_loggers(config: DictConfig, run_dir: Path) -> list[Logger] | bool:
    """The run's own curves, and the loggers that were asked for."""
    if config.logger is None:
        return False
    external = [instantiate(settings)(save_dir=run_dir, config=config) for settings in config.logger.values()]
    return [Curves(run_dir), *external]


def build_trainer(
    config: DictConfig, run_dir: Path, first: Sequence[Callback] = (), last: Sequence[Callback] = ()
) -> Trainer:
    """With the callbacks of the config between the `first` and the `last` ones."""
    # With deterministic=true, torch fills all new memory, which costs a twentieth of a step; here all of it is written.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    wanted = [callback for callback in instantiate(config.callbacks).values() if callback is not None]
    trainer: Trainer = instantiate(
        config.trainer,
        default_root_dir=run_dir,
        logger=build_loggers(config, run_dir),
        callbacks=[*first, *wanted, *last],
    )
    return trainer
