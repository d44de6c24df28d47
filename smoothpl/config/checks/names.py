"""Options that were typed by name, and a setting beside them that makes the name untrue."""

from collections.abc import Sequence
from typing import Any

from omegaconf import DictConfig, OmegaConf

from smoothpl.config.knobs import conf_dir
from smoothpl.config.overrides import key_of, understood
from smoothpl.errors import require


def check_names(config: DictConfig, overrides: Sequence[str]) -> None:
    typed = {key_of(word): word for word in overrides}
    if "shape" in typed and "shape.mu" in typed:
        check_power(config, typed["shape"].partition("=")[2])
    if "logger" in typed:
        check_no_logger(typed["logger"])


def check_power(config: DictConfig, name: str) -> None:
    """Refuses shape=linear with another power; not for a run that is resumed, which is what it was."""
    file, mu = conf_dir() / "shape" / f"{name}.yaml", config.shape.get("mu")
    of_name: Any = OmegaConf.to_container(OmegaConf.load(file)) if file.is_file() else {}
    own = of_name.get("mu", "???")
    require(
        own in ("???", mu) or config.resume not in (None, "auto"),
        f"shape={name} is the power shape.mu={own}, and shape.mu={mu} was typed; use shape=power shape.mu={mu}.",
    )


def check_no_logger(word: str) -> None:
    override = understood(word)
    names = override.value() if override is not None else None
    require(
        not isinstance(names, list) or "none" not in names or len(names) == 1,
        f"{word}: none is for a run without curves, and cannot be one of several; leave it out, or use logger=none.",
    )
