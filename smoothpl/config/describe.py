"""What there is to say of knobs and groups, from conf/ itself."""

import textwrap
from dataclasses import fields

from omegaconf import DictConfig, OmegaConf

from smoothpl.config.knobs import TrainConfig, conf_dir


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
