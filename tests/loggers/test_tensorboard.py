"""What it shows is read back in test_wandb.py, from a run with both."""

import pytest

from smoothpl.errors import ConfigError
from smoothpl.run.build import check_loggers
from tests.support.composing import composed


def test_tensorboard_that_is_not_installed_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smoothpl.loggers.tensorboard.find_spec", lambda _: None)
    with pytest.raises(ConfigError, match="pip install tensorboard"):
        check_loggers(composed("logger=tensorboard"))
