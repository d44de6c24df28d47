"""Which knobs contradict each other: what types cannot catch, said before any work is done."""

from collections.abc import Sequence
from dataclasses import fields
from math import inf

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import InterpolationKeyError

from smoothpl.config.knobs import TrainConfig
from smoothpl.errors import ConfigError, require
from smoothpl.growth import check_growth


def check(config: DictConfig, overrides: Sequence[str] = ()) -> None:
    """Raises ConfigError, naming the knob, its value, the rule and the way out."""
    check_numbers(config)
    check_split(config)
    check_growth(config)
    check_views(config)
    check_trainer(config)
    # Two of three: one part of a method that learns from labels alone may have been asked for by mistake.
    if [config.policy, config.shape, config.target].count(None) >= 2:
        check_labels_only(config)
    else:
        check_pseudo_labels(config)
    check_effects(config, overrides)


def check_numbers(config: DictConfig) -> None:
    for name in ("batch_size", "max_steps", "eval_every", "log_every", "checkpoint_every", "accumulate"):
        require(config[name] > 0, f"{name}={config[name]} must be a positive whole number.")
    for name in ("fold", "seed"):
        require(0 <= config[name] < 2**32, f"{name}={config[name]} must be a whole number from 0 to 2^32 - 1.")
    require(0 <= config.ema_decay < 1, f"ema_decay={config.ema_decay} must lie in [0, 1); 0 evaluates live weights.")
    require(0 < config.norm_momentum <= 1, f"norm_momentum={config.norm_momentum} must lie in (0, 1].")
    workers = config.data.num_workers
    require(isinstance(workers, int) and workers >= 0, f"data.num_workers={workers} must be 0 or a positive number.")


def check_split(config: DictConfig) -> None:
    num_labels, num_classes, split = config.num_labels, config.data.num_classes, config.split
    name = split._target_.rpartition(".")[2]
    if name == "given" or "num_labels" in config.data.source:
        check_given(config)
        return
    if "num_labels" not in split:
        require(num_labels is None, f"num_labels={num_labels} has no effect: split={name} labels every image.")
        return
    require(num_labels is not None, f"num_labels=null, but split={name} must know how many; for all use split=full.")
    require(num_labels > 0, f"num_labels={num_labels} must be a positive whole number.")
    if name == "imbalanced":
        check_imbalance(config)
    same_for_all_classes = name == "balanced" or (name == "imbalanced" and split.labeled_tail == 1)
    near = max(num_classes, round(num_labels / num_classes) * num_classes)
    require(
        num_labels % num_classes == 0 or not same_for_all_classes,
        f"num_labels={num_labels} does not divide evenly among {num_classes} classes (split={name}); "
        f"use a multiple of {num_classes}, for example num_labels={near}, or split=random.",
    )


def check_given(config: DictConfig) -> None:
    name, source = (each._target_.rpartition(".")[2] for each in (config.split, config.data.source))
    require(
        name == "given" and "num_labels" in config.data.source,
        f"split={name} and data={source}: labels that somebody has given are learned from with split=given, and only "
        "data=folder has such; use both or neither.",
    )
    require(config.num_labels is not None and config.num_labels > 0, f"num_labels={config.num_labels}: leave it out.")


def check_imbalance(config: DictConfig) -> None:
    split = config.split
    require(0 < split.keep <= 1, f"split.keep={split.keep} must lie in (0, 1]: the share that is kept.")
    require(
        0 <= split.num_thinned <= config.data.num_classes,
        f"split.num_thinned={split.num_thinned} must be a number of classes, from 0 to {config.data.num_classes}.",
    )
    for name in ("labeled_tail", "unlabeled_tail"):
        require(split[name] >= 1, f"split.{name}={split[name]} must be 1 (no tail) or more: first class over last.")
    require(
        split.num_thinned * (split.keep < 1) + (split.labeled_tail > 1) + (split.unlabeled_tail > 1) > 0,
        "split=imbalanced with these values is balanced; use split=balanced.",
    )


def check_views(config: DictConfig) -> None:
    try:
        OmegaConf.to_container(config.views, resolve=True)
    except InterpolationKeyError as error:
        needed = str(error).split("'")[1]
        raise ConfigError(
            f"these views need {needed}, which these data do not have; views=torchssl or views=fixmatch are for images "
            "of one size, views=imagenet for pictures of many, views=digits for grey drawings."
        ) from error


def check_trainer(config: DictConfig) -> None:
    trainer = config.trainer
    for knob, key in {
        "max_steps": "max_steps",
        "accumulate": "accumulate_grad_batches",
        "log_every": "log_every_n_steps",
    }.items():
        require(trainer[key] == config[knob], f"trainer.{key}={trainer[key]} contradicts {knob}; set {knob} itself.")
    require(
        trainer.get("max_time") is None,
        f"trainer.max_time={trainer.get('max_time')} would stop a resumed run at once; use max_time.",
    )
    require(
        config.max_time is None or seconds(config.max_time) is not None,
        f"max_time={config.max_time} must be hours:minutes:seconds, for example max_time=23:30:00.",
    )
    require(
        trainer.val_check_interval == config.eval_every * config.accumulate,
        f"trainer.val_check_interval={trainer.val_check_interval} contradicts eval_every; set eval_every itself.",
    )
    require(
        trainer.devices in (1, "1") or "strategy" in trainer,
        f"trainer.devices={trainer.devices}: more than one device needs trainer=ddp as well.",
    )
    several = isinstance(trainer.devices, int) and trainer.devices > 1
    require(
        not several or config.batch_size % (config.accumulate * trainer.devices) == 0,
        f"trainer.devices={trainer.devices} do not divide batch_size={config.batch_size} into equal parts; it is the "
        "number of labeled images of the whole step.",
    )
    require(
        "strategy" not in trainer or config.unlabeled_weight != "auto",
        "unlabeled_weight=auto measures on one device; find it with python -m smoothpl.calibrate, and set it.",
    )
    require(
        config.batch_size % config.accumulate == 0,
        f"accumulate={config.accumulate} does not divide batch_size={config.batch_size} into equal parts.",
    )
    require(
        config.callbacks.get("ema") is not None,
        "callbacks.ema=null: it is the averaged network that is evaluated; for no averaging use ema_decay=0.",
    )


def check_labels_only(config: DictConfig) -> None:
    names = ("align", "policy", "shape", "target", "annealing", "fairness", "threshold", "learned_view")
    parts = [name for name in names if config[name] is not None]
    numbers = [name for name in ("unlabeled_weight", "unlabeled_ratio", "factor_weight") if config[name] != 0]
    require(config.forward == "joint", f"forward={config.forward} has no effect: there is no weak view.")
    require(
        not parts + numbers,
        f"{', '.join(parts + numbers)} would have no effect: method={config.method} learns from labels alone; "
        "leave it out, or use method=fixmatch or method=smooth.",
    )


def check_pseudo_labels(config: DictConfig) -> None:
    for name in ("align", "policy", "shape", "target", "learned_view"):
        require(config[name] is not None, f"{name}=null, but method={config.method} needs a {name}.")
    check_threshold(config)
    check_forward(config)
    require(
        config.learned_view in ("strong", "weak"),
        f"learned_view={config.learned_view} must be strong (as FixMatch) or weak (as Pseudo-Labeling).",
    )
    check_unlabeled_weight(config)
    require(
        config.unlabeled_ratio > 0,
        f"unlabeled_ratio={config.unlabeled_ratio} must be positive; to learn from labels alone use method=supervised.",
    )
    require(config.factor_weight >= 0, f"factor_weight={config.factor_weight} must not be negative.")
    require(
        not (config.factor_weight > 0 and config.shape._target_.endswith(".Step")),
        f"factor_weight={config.factor_weight} has no effect with shape=step, which has no slope to learn from; "
        "use shape=linear, or factor_weight=0.",
    )


def check_unlabeled_weight(config: DictConfig) -> None:
    weight = config.unlabeled_weight
    if weight == "auto":
        require(
            not config.shape._target_.endswith(".Step"),
            "unlabeled_weight=auto has nothing to measure with shape=step, which others are measured by; use 1.",
        )
        return
    require(
        isinstance(weight, int | float) and 0 < weight < inf,
        f"unlabeled_weight={weight} must be a positive number, or auto to measure it; "
        "to learn from labels alone use method=supervised.",
    )


def check_forward(config: DictConfig) -> None:
    require(config.forward in ("joint", "split"), f"forward={config.forward} must be joint or split.")
    require(
        config.forward == "joint" or config.learned_view == "strong",
        f"forward=split leaves the weak view without gradient, but learned_view={config.learned_view} learns from it.",
    )
    require(
        config.forward == "joint" or config.factor_weight == 0,
        f"forward=split leaves the weak view without gradient, which factor_weight={config.factor_weight} needs; "
        "use forward=joint, or factor_weight=0.",
    )


def check_threshold(config: DictConfig) -> None:
    threshold, floor = config.threshold, config.threshold_floor
    if "threshold" in config.policy:
        require(threshold is not None, f"threshold=null, but method={config.method} needs a threshold.")
        require(
            0 < threshold < 1,
            f"threshold={threshold} must lie strictly between 0 and 1: "
            "at 1 no pseudo-label could count, at 0 all would; the paper uses 0.95.",
        )
        require(
            floor <= threshold,
            f"threshold_floor={floor} is above threshold={threshold}, which would have no effect; use a lower floor.",
        )
    else:
        require(threshold is None, f"threshold={threshold} has no effect: this policy finds its own; leave it out.")
    require(0 <= floor < 1, f"threshold_floor={floor} must lie in [0, 1); 0 leaves the policy alone.")
    require(config.score in ("confidence", "margin"), f"score={config.score} must be confidence or margin.")
    require(config.smooth in ("allow", "strict"), f"smooth={config.smooth} must be allow or strict.")


def check_effects(config: DictConfig, overrides: Sequence[str]) -> None:
    """A knob that would be ignored is an error, not a silence."""
    known = [each.name for each in fields(TrainConfig)]
    for name in map(str, config):
        require(name in known, f"{name}={config[name]} was added to the configuration, but nothing reads it.")
    written = OmegaConf.to_container(config)
    assert isinstance(written, dict)
    for override in (each.lstrip("+~") for each in overrides):
        require(
            not override.startswith("smooth_unlabeled_weight=")
            or written["unlabeled_weight"] == "${smooth_unlabeled_weight}",
            f"{override} has no effect with method={config.method} and unlabeled_weight={config.unlabeled_weight}; "
            "set unlabeled_weight itself.",
        )
        require(
            not override.startswith("views.strong.") or config.learned_view == "strong",
            f"{override} has no effect with learned_view={config.learned_view}: the strong view is not made.",
        )
        key = override.split("=")[0]
        require(
            key not in ("data.flip", "data.padding", "data.size")
            or f"${{{key}}}" in str(written["views"]) + str(written["data"]["source"]),
            f"{override} has no effect with these views, which have settings of their own.",
        )


def seconds(time: str) -> int | None:
    """Of hours:minutes:seconds; None if it is none."""
    parts = time.split(":")
    if len(parts) != 3 or not all(part.isdecimal() for part in parts):
        return None
    hours, minutes, rest = map(int, parts)
    return 3600 * hours + 60 * minutes + rest
