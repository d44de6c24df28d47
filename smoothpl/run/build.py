"""From configuration to objects: data, module, trainer, loggers."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import cast

import torch
from hydra.utils import get_class, instantiate
from lightning import Callback, Trainer
from lightning.pytorch.loggers import Logger
from omegaconf import DictConfig, OmegaConf
from torch import Tensor, nn
from torch.optim import SGD

from smoothpl.backbones.build import build_backbones, build_encoders
from smoothpl.backbones.embeddings import Embeddings
from smoothpl.backbones.engine import engine_for
from smoothpl.data import Fold, SemiSupervisedData, Steps, Views, given
from smoothpl.data.features.source import PLAIN, STRONG, WEAK, Features
from smoothpl.data.folder.scan import Scan
from smoothpl.data.parts import Part
from smoothpl.data.prepared import prepared
from smoothpl.errors import ConfigError, require
from smoothpl.loggers import Curves, ExternalLogger
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.build import build_network
from smoothpl.nets.finetuning.build import whole_network
from smoothpl.nets.heads import Head
from smoothpl.nets.start import HeadStart
from smoothpl.optim import SGDByDepth, WeightDecaySGD
from smoothpl.pseudo import Weighting, obstacles
from smoothpl.pseudo.smoothness import jumps
from smoothpl.run.memory import check_classes


def build_data(config: DictConfig, scan: Scan | None = None) -> SemiSupervisedData:
    """Reads nothing yet: images are opened when training starts. `scan`: the folder, if it was looked at already."""
    source = instantiate(config.data.source)
    views = instantiate(config.views, _convert_="all")
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
        views=views if config.finetune is None else prepared(views, build_encoders(config.backbone)[0]),
        num_classes=config.data.num_classes,
        num_workers=config.data.num_workers,
        features=None if config.backbone is None or config.finetune is not None else build_features(config, views),
        part=Part(**config.data.held_out) if config.data.get("held_out") else None,
    )


def build_features(config: DictConfig, views: Views) -> Features:
    backbone = config.backbone
    parts = {PLAIN: ["test_frame"], WEAK: ["weak", "frame"], STRONG: ["strong", "frame"]}
    return Features(
        engines=lambda: [
            each if isinstance(each, Embeddings) else engine_for(each, backbone.engine)
            for each in build_backbones(backbone)
        ],
        views=views,
        recipes={kind: described(config.views, names) for kind, names in parts.items()},
        num_views=backbone.views,
    )


def described(views: DictConfig, names: Sequence[str]) -> str:
    """Parts of a configuration in words that change with them, and with nothing else."""
    written = OmegaConf.to_container(views, resolve=True)
    assert isinstance(written, dict)
    return json.dumps([written.get(name) for name in names], sort_keys=True)


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
        network=build_whole(config, with_pretrained),
        optimizer=build_optimizer(config),
        num_classes=config.data.num_classes,
        weighting=weighting,
        target=instantiate(config.target),
        unlabeled_weight=1.0 if config.unlabeled_weight == "auto" else config.unlabeled_weight,  # auto: see train
        factor_weight=config.factor_weight,
        fairness=fairness,
        split_forward=config.forward == "split",
        log_every=config.log_every,
        start=build_start(config),
    )
    if config.compile:
        module.compile_step()
    return module


def build_whole(config: DictConfig, with_pretrained: bool) -> nn.Module:
    """The network that learns: one that sees images, a head on features, or a head with the backbone below it."""
    network = build_network(config.net, with_pretrained, dims_of(config))
    if config.finetune is None:
        return network
    assert isinstance(network, Head)
    return whole_network(build_encoders(config.backbone)[0], network, config.finetune)


def build_optimizer(config: DictConfig) -> Callable[[nn.Module], SGD]:
    optimizer: Callable[[nn.Module], SGD] = instantiate(config.optim)
    if config.finetune is None:
        return optimizer
    require(
        isinstance(optimizer, WeightDecaySGD),
        f"finetune={config.finetune.mode} gives each depth its learning rate, which optim={last_part(config.optim)} "
        "does not know; use optim=sgd.",
    )
    rates = {name: config.finetune[name] for name in ("learning_rate", "decay", "head_learning_rate")}
    return SGDByDepth(cast(WeightDecaySGD, optimizer), **rates)


def dims_of(config: DictConfig) -> list[int]:
    """The lengths of the vectors that a head gets, one of each backbone; none for a network that sees images."""
    return [] if config.backbone is None else [each.dim for each in build_backbones(config.backbone)]


def build_start(config: DictConfig) -> HeadStart | None:
    """None where another run's weights are the start, or those of the stage before."""
    if config.head is None or config.labels_before or config.finetune is not None:
        return None
    start = HeadStart(config.head.init, config.head.temperature, config.head.loss_temperature)
    start.check()
    return start


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
