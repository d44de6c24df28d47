import pytest
from hydra.errors import MissingConfigException

from smoothpl.config.compose import compose_checked, compose_config
from smoothpl.errors import ConfigError


def test_a_configuration_is_composed_as_the_command_line_does_it() -> None:
    config = compose_config(["method=fixmatch", "threshold=0.9"])
    assert (config.method, config.policy.threshold, config.shape._target_) == ("fixmatch", 0.9, "smoothpl.pseudo.Step")
    assert "hydra" not in config


def test_hydras_own_part_is_there_when_it_is_asked_for() -> None:
    hydra = compose_config(["experiment=seed"], with_hydra=True).hydra
    assert "seed" in hydra.sweeper.params


def test_an_option_that_is_not_there_is_hydras_to_refuse() -> None:
    with pytest.raises(MissingConfigException):
        compose_config(["shape=cubic"])


def test_what_contradicts_itself_is_composed_but_not_checked() -> None:
    assert compose_config(["threshold=2"]).threshold == 2
    with pytest.raises(ConfigError, match="threshold=2"):
        compose_checked(["threshold=2"])


def test_the_checks_know_what_was_typed() -> None:
    with pytest.raises(ConfigError, match="smooth_unlabeled_weight=2 has no effect"):
        compose_checked(["method=fixmatch", "smooth_unlabeled_weight=2"])
