"""From overrides to a configuration, as Hydra composes it from conf/; checked before anybody works with it."""

from collections.abc import Sequence

from hydra import compose, initialize_config_dir
from omegaconf import DictConfig

from smoothpl.config.checks import check
from smoothpl.config.knobs import conf_dir
from smoothpl.config.resolvers import register


def compose_config(overrides: Sequence[str], with_hydra: bool = False) -> DictConfig:
    register()
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        return compose("train", overrides=list(overrides), return_hydra_config=with_hydra)


def compose_checked(overrides: Sequence[str]) -> DictConfig:
    config = compose_config(overrides)
    check(config, overrides)
    return config
