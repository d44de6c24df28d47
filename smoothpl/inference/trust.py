"""What a record may call: it may come from a stranger, and names the code that builds its network."""

from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

import smoothpl.backbones
import smoothpl.nets
from smoothpl.errors import ConfigError

NETWORKS = tuple(f"smoothpl.nets.{name}" for name in smoothpl.nets.__all__)
BACKBONES = tuple(
    f"smoothpl.backbones.{name}"
    for name in smoothpl.backbones.__all__
    if name not in ("Encoder", "Engine", "engine_for")
)
"""What is built without trust=true."""


def check_trusted(part: DictConfig, what: str, run_dir: Path, trust: bool) -> None:
    """part: the configuration of a network or of a backbone. Its arguments may be words, numbers and lists of them."""
    target, own = part.get("_target_"), NETWORKS if what == "network" else BACKBONES
    arguments = OmegaConf.to_container(part)
    assert isinstance(arguments, dict)
    if not trust and (target not in own or not all(is_plain(value) for value in arguments.values())):
        raise ConfigError(
            f"run={run_dir} names a {what} that is not smoothpl's own code ({target}, or one of its arguments); "
            "if you trust where the run comes from, add trust=true."
        )


def is_plain(value: Any) -> bool:
    return not isinstance(value, dict | list) or (isinstance(value, list) and all(map(is_plain, value)))
