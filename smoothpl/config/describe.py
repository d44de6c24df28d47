"""What there is to say of knobs and groups, read from conf/ itself: --help and the YAML say the same."""

import re
import textwrap
from dataclasses import fields
from functools import cache
from typing import NamedTuple

from omegaconf import DictConfig, OmegaConf

from smoothpl.config.knobs import TrainConfig, conf_dir

WIDTH = 80
INDENT = 6


class Knob(NamedTuple):
    name: str
    section: str
    meaning: str


@cache
def knobs() -> list[Knob]:
    """Every plain knob in conf/train.yaml: a comment above it is its meaning, a line with ## begins a section."""
    found: list[Knob] = []
    section, meaning = "", ""
    for line in (conf_dir() / "train.yaml").read_text().splitlines():
        if line.startswith("## "):
            section, meaning = line.removeprefix("## "), ""
        elif line.startswith("# "):
            meaning = f"{meaning} {line.removeprefix('# ')}".strip()
        elif section and (key := re.match(r"(\w+):", line)) and key[1] != "hydra":
            found.append(Knob(key[1], section, meaning))
            meaning = ""
        elif not line:
            meaning = ""
    return found


def describe_knobs(_root_: DictConfig) -> str:
    """Each with its value in `_root_`, the name under which OmegaConf passes the whole configuration."""
    lines: list[str] = []
    section = ""
    for knob in knobs():
        if knob.section != section:
            section = knob.section
            lines += ["", f"  {section}"]
        lines.append(f"    {knob.name}={as_typed(_root_, knob.name)}")
        lines += wrapped(knob.meaning, " " * INDENT)
    return "\n".join(lines).lstrip("\n")


def as_typed(config: DictConfig, name: str) -> str:
    """A value as one would type it; ??? if it has none yet."""
    value = "???" if OmegaConf.is_missing(config, name) else config[name]
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def describe_groups() -> str:
    lines = []
    for group in groups():
        lines += wrapped(f"{group}: {', '.join(options(group))}", "  ", further=" " * INDENT)
    return "\n".join(lines)


def groups() -> list[str]:
    """The names of all groups that have options in conf/."""
    return [name for name in [*(each.name for each in fields(TrainConfig)), "experiment"] if options(name)]


def options(group: str) -> list[str]:
    return sorted(path.stem for path in (conf_dir() / group).glob("*.yaml"))


def wrapped(text: str, indent: str, further: str | None = None) -> list[str]:
    return textwrap.wrap(
        text, WIDTH - 2, initial_indent=indent, subsequent_indent=indent if further is None else further
    )
