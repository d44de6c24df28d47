"""The trainer: what would contradict a knob, stop a resumed run at once, or not divide a step evenly."""

from omegaconf import DictConfig

from smoothpl.errors import require

AUTO, EXACT, HALF = "auto", "32-true", "bf16-mixed"
"""Precisions: found by smoothpl.train, the default, and what a CPU may be faster in."""


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
        config.minutes is None,
        f"minutes={config.minutes} stands for max_steps, which are found before a run is composed; type it on the "
        "command line of smoothpl.train, not in a YAML.",
    )
    require(
        trainer.val_check_interval == config.eval_every * config.accumulate,
        f"trainer.val_check_interval={trainer.val_check_interval} contradicts eval_every; set eval_every itself.",
    )
    check_devices(config)
    require(
        config.callbacks.get("ema") is not None,
        "callbacks.ema=null: it is the averaged network that is evaluated; for no averaging use ema_decay=0.",
    )


def check_devices(config: DictConfig) -> None:
    trainer = config.trainer
    require(
        not isinstance(trainer.devices, int | str)
        or trainer.devices in ("auto", -1)
        or (str(trainer.devices).isdecimal() and int(trainer.devices) > 0),
        f"trainer.devices={trainer.devices} must be 1, or with trainer=ddp a larger number or auto.",
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
        "unlabeled_weight=auto measures on one device; find it with smoothpl equilibrium, and set it.",
    )
    require(
        config.batch_size % config.accumulate == 0,
        f"accumulate={config.accumulate} does not divide batch_size={config.batch_size} into equal parts.",
    )


def seconds(time: str) -> int | None:
    """From hours:minutes:seconds; None for anything else."""
    parts = time.split(":")
    if len(parts) != 3 or not all(part.isdecimal() for part in parts):
        return None
    hours, minutes, rest = map(int, parts)
    return 3600 * hours + 60 * minutes + rest
