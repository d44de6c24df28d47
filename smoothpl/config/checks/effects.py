"""Settings that would have no effect."""

from collections.abc import Sequence
from dataclasses import fields

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import InterpolationKeyError

from smoothpl.config.knobs import TrainConfig
from smoothpl.config.overrides import key_of
from smoothpl.errors import ConfigError, require


def check_views(config: DictConfig) -> None:
    try:
        OmegaConf.to_container(config.views, resolve=True)
    except InterpolationKeyError as error:
        needed = str(error).split("'")[1]
        raise ConfigError(
            f"these views need {needed}, which these data do not have; views=torchssl or views=fixmatch are for images "
            "of one size, views=imagenet for pictures of many, views=digits for grey drawings."
        ) from error


def check_effects(config: DictConfig, overrides: Sequence[str]) -> None:
    """A setting that would be ignored is an error, not a silence."""
    known = [each.name for each in fields(TrainConfig)]
    for name in map(str, config):
        require(name in known, f"{name}={config[name]} was added to the configuration, but nothing reads it.")
    written = OmegaConf.to_container(config)
    assert isinstance(written, dict)
    for override in overrides:
        key = key_of(override)
        require(
            key != "smooth_unlabeled_weight" or written["unlabeled_weight"] == "${smooth_unlabeled_weight}",
            f"{override} has no effect with method={config.method} and unlabeled_weight={config.unlabeled_weight}; "
            "set unlabeled_weight itself.",
        )
        require(
            not key.startswith("views.strong.") or config.learned_view == "strong",
            f"{override} has no effect with learned_view={config.learned_view}: there is no strong view.",
        )
        require(
            key not in ("data.flip", "data.padding", "data.size")
            or f"${{{key}}}" in str(written["views"]) + str(written["data"]["source"]),
            f"{override} has no effect with these views, which have settings of their own.",
        )
