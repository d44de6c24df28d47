"""What --help says of knobs and groups, from the schema and from the files in conf/."""

import sys
import textwrap
from collections.abc import Sequence
from dataclasses import fields

from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf

from smoothpl.config import TrainConfig, conf_dir


def describe_knobs(_root_: DictConfig) -> str:
    """One line each, with its value in `_root_`, the name under which OmegaConf passes the whole configuration."""
    lines = []
    for each in fields(TrainConfig):
        if "meaning" in each.metadata:
            value = "?" if OmegaConf.is_missing(_root_, each.name) else _root_[each.name]
            lines.append(f"  {each.name:23} {'none' if value is None else value!s:10} {each.metadata['meaning']}")
    return "\n".join(lines)


def describe_groups() -> str:
    lines = []
    for group in [*(each.name for each in fields(TrainConfig)), "experiment"]:
        options = sorted(path.stem for path in (conf_dir() / group).glob("*.yaml"))
        if options:
            text = f"{group}: {', '.join(options)}"
            lines += textwrap.wrap(text, 76, initial_indent="  ", subsequent_indent="      ")
    return "\n".join(lines)


def asks_for_help(arguments: Sequence[str]) -> bool:
    """Help, with nothing but knobs besides; with other flags it is Hydra's business."""
    flags = [each for each in arguments if each.startswith("-")]
    return bool(flags) and {*flags} <= {"--help", "-h"}


def show_help(arguments: Sequence[str]) -> None:
    """What Hydra would print. It would first list all groups in a way of its own, which takes it a second."""
    overrides = [each for each in arguments if not each.startswith("-")]
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        config = compose("train", overrides=overrides, return_hydra_config=True)
    sys.stdout.write(f"{config.hydra.help.template}\n")
