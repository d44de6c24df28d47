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
from smoothpl.data.choosing import Choosing
from smoothpl.data.features.source import MEDIUM, PLAIN, QUARTERS, SIMCLR, STRONG, TURNED, WEAK, Features
from smoothpl.data.folder.scan import Scan
from smoothpl.data.parts import Part
from smoothpl.data.picked import Picked
from smoothpl.data.prepared import prepared
from smoothpl.errors import require
from smoothpl.loggers import Curves, ExternalLogger
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.build import build_network, with_extra_heads
from smoothpl.nets.finetuning.build import whole_network
from smoothpl.nets.heads import Head
from smoothpl.nets.start import HeadStart
from smoothpl.optim import SGDByDepth, WeightDecaySGD
from smoothpl.run.build_method import build_method
from smoothpl.run.memory import check_classes, known_side


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
            wanted=tuple(config.views_wanted),
        ),
        views=views if config.finetune is None else prepared(views, build_encoders(config.backbone)[0]),
        num_classes=config.data.num_classes,
        num_workers=config.data.num_workers,
        features=None if config.backbone is None or config.finetune is not None else build_features(config, views),
        open_set=None if config.unlabeled is None else instantiate(config.unlabeled, _convert_="all"),
        choosing=Choosing(config.choose_on) if config.choose_on else None,
        part=Part(**config.data.held_out) if config.data.get("held_out") else None,
        picked=partial(Picked.read, Path(config.data.picked.file), config.data.picked.digest)
        if config.data.get("picked")
        else None,
    )


def build_features(config: DictConfig, views: Views) -> Features:
    backbone = config.backbone
    of_strong = (STRONG, MEDIUM, *(f"{TURNED}{quarters}" for quarters in QUARTERS))
    recipes = {PLAIN: described(config.views, ["test_frame"]), WEAK: described(config.views, ["weak", "frame"])}
    recipes |= dict.fromkeys(of_strong, described(config.views, ["strong", "frame"]))
    recipes[SIMCLR] = described(config.views, ["frame"]) + repr(views.recipe(SIMCLR))
    return Features(
        engines=lambda: [
            each if isinstance(each, Embeddings) else engine_for(each, backbone.engine)
            for each in build_backbones(backbone)
        ],
        views=views,
        recipes=recipes,
        num_views=backbone.views,
        wanted=tuple(config.views_wanted),
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
    method = build_method(config)
    module = SemiSupervisedModule(
        network=build_whole(config, with_pretrained),
        optimizer=build_optimizer(config),
        num_classes=config.data.num_classes,
        weighting=method.weighting,
        terms=method.terms,
        teacher=method.teacher,
        mix=method.mix,
        ascent=method.ascent,
        labeled_weight=config.labeled_weight,
        forward=config.forward,
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
        side = known_side(config)
        dims = () if side is None else (config.data.channels, side, side)
        return with_extra_heads(network, config.extra_heads, config.data.num_classes, dims)
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
