import logging
import socket
from typing import Any

import pytest
import timm
from huggingface_hub import constants

from smoothpl.backbones import of_timm
from smoothpl.errors import ConfigError
from smoothpl.nets.fetching import fetched, is_reachable, quiet_hub


def cut_off(*_: Any, **__: Any) -> Any:
    raise OSError("Name or service not known")


@pytest.fixture
def without_network(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(socket, "create_connection", cut_off)


@pytest.mark.usefixtures("without_network")
def test_without_a_network_there_is_one_message_and_no_second_try(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path_factory.mktemp("empty")))
    monkeypatch.setattr("time.sleep", lambda _: pytest.fail("it was tried again"))
    message = r"^backbone\.weights=pretrained could not be fetched \(no connection to https://[\w.]+\); .*=<file>\.$"
    with caplog.at_level(logging.INFO), pytest.raises(ConfigError, match=message):
        of_timm("resnet10t", "pretrained", size=32)
    assert caplog.records == []
    assert constants.HF_HUB_OFFLINE is False


@pytest.mark.usefixtures("without_network")
def test_other_errors_are_told_as_they_are() -> None:
    def fail() -> Any:
        with quiet_hub():
            timm.create_model("resnet50_mlp", pretrained=True)

    with pytest.raises(ConfigError, match=r"^net\.weights=x could not be fetched \(No pretrained weights exist"):
        fetched(fail, "x")


def test_where_there_is_a_network_the_library_may_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smoothpl.nets.fetching.is_reachable", lambda _: True)
    before = constants.HF_HUB_OFFLINE
    with quiet_hub():
        assert before == constants.HF_HUB_OFFLINE
        assert not logging.getLogger("huggingface_hub").isEnabledFor(logging.WARNING)
    assert logging.getLogger("huggingface_hub").isEnabledFor(logging.CRITICAL)


@pytest.mark.usefixtures("without_network")
def test_a_proxy_answers_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_reachable("https://huggingface.co")
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    assert is_reachable("https://huggingface.co")
