from pathlib import Path

import pytest
from omegaconf import OmegaConf
from PIL import Image

from smoothpl.cli.arguments import compose_checked
from smoothpl.config import folder_defaults as choices
from smoothpl.config.folder_defaults import USUAL, with_choices, with_new_labels
from smoothpl.config.knobs import conf_dir
from smoothpl.errors import ConfigError
from smoothpl.record.record import read
from tests.data.own import two_digits
from tests.processes import Process


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def chosen(*words: str) -> dict[str, str]:
    return dict(each.split("=", 1) for each in with_choices(words))


def test_other_data_are_left_alone() -> None:
    words = ["data=cifar10", "fold=3", "data.root=."]
    assert with_choices(words) == words
    sweep = ["-m", "benchmark=digits_20,digits_40", "max_steps=5,10", "data.size=32,64"]
    assert with_choices(sweep) == with_new_labels(sweep) == sweep


def test_what_was_not_said_is_chosen_and_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = two_digits(tmp_path / "my own, 'odd' folder")
    words = chosen("data=folder", f"data.root={root}", "fold=1")
    assert words["benchmark"] == "folder"
    assert (words["data.num_classes"], words["num_labels"], words["data.size"]) == ("2", "8", "8")
    config = compose_checked([f"{key}={value}" for key, value in words.items()])
    assert (config.data.root, config.data.source.folds, config.fold) == (str(root), 2, 1)
    told = capsys.readouterr().err
    assert "32 images, 8 labels of 2 classes, no test images" in told
    assert "net=wrn_10_1" in told
    again = with_choices([f"{key}={value}" for key, value in words.items()])
    assert again == [f"{key}={value}" for key, value in words.items()]  # as a process that it starts would say it


def test_what_was_said_stays(tmp_path: Path) -> None:
    root = two_digits(tmp_path / "own", test=1)
    words = chosen("data=folder", f"data.root={root}", "data.size=16", "max_steps=50", "net=wrn_28_2")
    assert (words["data.size"], words["data.padding"], words["data.folds"]) == ("16", "2", "0")
    assert (words["max_steps"], words["eval_every"], words["net"]) == ("50", "5", "wrn_28_2")


def test_more_images_are_learned_from_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = two_digits(tmp_path / "own")
    Image.new("RGB", (300, 90)).resize((300, 90)).save(root / "large.png")
    monkeypatch.setattr(choices, "FEW", 10)
    some = chosen("data=folder", f"data.root={root}", "data.size=32")
    assert (some["net"], some["max_steps"], "ema_decay" in some) == ("wrn_28_2", "5000", False)
    monkeypatch.setattr(choices, "MANY", 10)
    assert chosen("data=folder", f"data.root={root}")["ema_decay"] == "0.999"


def test_what_is_usual_is_what_the_yaml_says() -> None:
    yaml = OmegaConf.load(conf_dir() / "benchmark" / "folder.yaml")
    assert {"net": "wrn_10_1"} | {key: yaml[key] for key in USUAL if key != "net"} == USUAL
    assert {"override /net": "wrn_10_1"} in yaml.defaults


def test_a_folder_must_be_named() -> None:
    with pytest.raises(ConfigError, match=r"add data\.root=<folder>"):
        with_choices(["data=folder"])


def test_words_stay_together_and_one_folder_is_enough(tmp_path: Path) -> None:
    root = two_digits(tmp_path / "own")
    assert with_choices([f"data.root={root}", "data=folder", "fold=0,1", "-m"])[-3:] == [
        "data=folder",
        "fold=0,1",
        "-m",
    ]
    with pytest.raises(ConfigError, match="one folder, and one size of its images, at a time"):
        with_choices([f"data.root={root},other", "data=folder"])
    assert "max_steps=5,10" in with_choices([f"data.root={root}", "data=folder", "max_steps=5,10"])


def test_labels_are_added_and_the_run_goes_on(tmp_path: Path) -> None:
    """From a folder to a model, in the words of a user; then three more labels."""
    root = two_digits(tmp_path / "own", labels=4, test=2)
    words = ("data=folder", "data.root=own", "max_steps=4", "batch_size=4", "data.flip=0", "pictures=false")
    first = Process("smoothpl.train", *words, "hydra.run.dir=first", cwd=tmp_path).wait()
    assert first.returncode == 0, first.stderr
    record = read(tmp_path / "first")
    assert (record.num_test, sum(record.labeled_per_class), record.class_names) == (4, 8, ["one", "zero"])
    for path in sorted((root / "pool").iterdir())[:3]:
        path.rename(root / "labeled" / "one" / path.name)
    again = Process("smoothpl.train", "resume=first", "hydra.run.dir=second", cwd=tmp_path).wait()
    assert again.returncode == 0, again.stderr
    grown = read(tmp_path / "second")
    assert [stage.num_labels for stage in grown.label_history] == [8, 11]
    assert {*record.labeled} < {*grown.labeled}
    same = Process("smoothpl.train", "resume=second", cwd=tmp_path).wait()
    assert same.returncode == 0, same.stderr
    assert read(tmp_path / "second") == grown
    one, zero = (sorted((root / "labeled" / name).iterdir())[0] for name in ("one", "zero"))
    for path, name in ((one, "zero"), (zero, "one")):
        path.rename(root / "labeled" / name / f"moved_{path.name}")
    with pytest.raises(ConfigError, match="has as many labels as this run has had, but others"):
        with_new_labels([f"resume={tmp_path / 'second'}"])
    for part in ("labeled", "test"):
        (root / part / "one").rename(root / part / "won")
    with pytest.raises(ConfigError, match="has other classes than this run, one, won"):
        with_new_labels([f"resume={tmp_path / 'second'}"])
