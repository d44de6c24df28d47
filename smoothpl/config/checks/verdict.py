"""The verdict: what can be compared, and what may choose."""

from omegaconf import DictConfig

from smoothpl.errors import require

ACTIONS = ("tell", "choose")


def check_verdict(config: DictConfig) -> None:
    if config.verdict is None:
        return
    action = config.verdict.get("action")
    require(action in ACTIONS, f"verdict.action={action} must be {' or '.join(ACTIONS)}.")
    require(
        "strategy" not in config.trainer,
        f"verdict={action} trains a twin on one device; with trainer=ddp use verdict=none, and compare with a run of "
        "method=supervised.",
    )
    require(
        action != "choose" or can_hold_out(config),
        "verdict=choose may not choose by test images, and holding out labels, part by part, would train this network "
        "many times; use verdict=tell, or a backbone without finetune.",
    )


def can_hold_out(config: DictConfig) -> bool:
    """Whether there are held-out labels to choose by, or they cost little."""
    return trains_quickly(config) or bool(config.data.get("folds"))


def trains_quickly(config: DictConfig) -> bool:
    """A head on frozen features takes about a second, so that it can be trained for every part of the labels."""
    return config.backbone is not None and config.finetune is None
