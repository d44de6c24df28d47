from pathlib import Path

import pytest
from PIL import Image

from smoothpl.config import folder_defaults
from smoothpl.config.overrides import CommandLine, quoted
from smoothpl.data.folder import scan
from smoothpl.data.folder.scan import scan_folder
from smoothpl.errors import ConfigError
from smoothpl.record.record import new_record, read, write
from smoothpl.run.budget import Pace
from smoothpl.run.command_line import complete, named_run
from smoothpl.run.own_folder import facts_of
from tests.support.composing import composed
from tests.support.own import save, two_digits
from tests.support.processes import Process


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def completed(*words: str) -> list[str]:
    return complete(CommandLine.parse(words)).line.arguments


def chosen(*words: str) -> dict[str, str]:
    return dict(each.split("=", 1) for each in completed(*words))


@pytest.mark.parametrize(
    "words",
    [
        ["data=cifar10", "fold=3", "data.root=."],
        ["-m", "benchmark=digits_20,digits_40", "max_steps=5,10", "data.size=32,64"],
        ["resume=auto", "fold=1"],
        ["resume=null"],
        [],
    ],
)
def test_other_command_lines_are_left_alone(words: list[str]) -> None:
    assert completed(*words) == words


def test_what_was_not_typed_for_a_folder_is_chosen_and_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = two_digits(tmp_path / "my own, 'odd' folder")
    request = complete(CommandLine.parse(["data=folder", "backbone=none", f"data.root={root}", "fold=1"]))
    config = request.config()
    assert (config.benchmark, config.data.num_classes, config.num_labels, config.data.size) == ("folder", 2, 8, 8)
    assert (config.data.root, config.fold) == (str(root), 1)
    printed = capsys.readouterr().err
    assert "32 images, 8 labels in 2 classes, no test images" in printed
    assert "Chosen for this folder: " in printed
    assert "net=wrn_10_1" in printed
    assert "digest" not in printed
    again = completed(*request.line.arguments)
    assert again == request.line.arguments  # as a process that it starts would repeat it


def test_the_folder_is_handed_over_as_it_was_seen(tmp_path: Path) -> None:
    root = two_digits(tmp_path / "own")
    found = complete(CommandLine.parse(["data=folder", f"data.root={root}"])).scan
    assert found is not None
    assert found.images_digest == scan_folder(str(root)).images_digest


@pytest.mark.parametrize("key", ["hydra.run.dir", "hydra.sweep.dir"])
def test_a_run_among_its_images_is_refused_before_any_is_read(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = two_digits(tmp_path / "own")
    monkeypatch.setattr(scan, "digests_of_files", None)
    for word in ("data=folder", "benchmark=folder"):
        with pytest.raises(ConfigError, match=rf"{key}=.*own is the folder of images .*{key}=runs/own"):
            completed(word, f"data.root={root}", f"{key}={root}")


def test_what_was_typed_stays(tmp_path: Path) -> None:
    root = two_digits(tmp_path / "own", test=1)
    words = chosen("data=folder", f"data.root={root}", "data.size=16", "max_steps=50", "net=wrn_28_2")
    assert (words["data.size"], words["data.padding"], words["data.folds"]) == ("16", "2", "0")
    assert (words["max_steps"], words["eval_every"], words["net"]) == ("50", "5", "wrn_28_2")


def test_values_that_are_the_benchmarks_own_are_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name of a recipe has what was changed, and nothing else."""
    root = two_digits(tmp_path / "own")
    assert "max_steps" not in chosen("data=folder", "backbone=none", f"data.root={root}")
    monkeypatch.setattr(folder_defaults, "FEW", 10)
    assert chosen("data=folder", "backbone=none", f"data.root={root}")["max_steps"] == "5000"


def test_a_folder_must_be_named() -> None:
    with pytest.raises(ConfigError, match=r"add data\.root=<folder>"):
        completed("data=folder")


def test_flags_come_first_and_one_folder_is_enough(tmp_path: Path) -> None:
    root = two_digits(tmp_path / "own")
    words = completed(f"data.root={root}", "data=folder", "fold=0,1", "-m", "max_steps=5,10")
    assert words[0] == "-m"
    assert {"fold=0,1", "max_steps=5,10", "data=folder"} <= {*words}
    with pytest.raises(ConfigError, match="one folder, and one size of its images, at a time"):
        completed(f"data.root={root},other", "data=folder")
    with pytest.raises(ConfigError, match="one folder, and one size of its images, at a time"):
        completed(f"data.root={root}", "data=folder", "data.size=8,16")


def test_the_facts_of_a_folder_are_read_off_its_files(tmp_path: Path) -> None:
    root = two_digits(tmp_path / "own", labels=4, unlabeled=12)
    (root / "pool" / "not_an_image.png").write_text("text")
    facts = facts_of(scan_folder(str(root)), divides=True)
    assert (facts.num_images, facts.num_labels, facts.num_classes, facts.num_test) == (33, 8, 2, 0)
    assert facts.shorter_sides == [8] * 32
    assert facts.folds >= 2
    save(root / "test" / "one" / "x.png", 5)
    with_test = facts_of(scan_folder(str(root)), divides=True)
    assert (with_test.folds, with_test.fold, with_test.num_test) == (0, 0, 1)


@pytest.mark.parametrize(
    ("word", "named"),
    [
        ("resume=a/b", "a/b"),
        ("resume=a/b/run.json", "a/b"),
        ("resume='a=b, c'", "a=b, c"),
        ("resume=auto", None),
        ("resume=null", None),
        ("fold=1", None),
    ],
)
def test_the_run_that_is_resumed_is_named_by_its_directory(word: str, named: str | None) -> None:
    assert named_run(CommandLine.parse([word])) == named


def recorded(tmp_path: Path, *overrides: str, status: str = "interrupted") -> Path:
    record = new_record(composed(), "name", overrides)
    record.status = status
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    write(run_dir, record)
    return run_dir


def test_a_word_that_adds_a_key_is_replaced_by_one_that_sets_it(tmp_path: Path) -> None:
    run_dir = recorded(tmp_path, "method=fixmatch", "+a.b=1")
    assert completed(f"resume={run_dir}", "-m", "a.b=2") == ["-m", "a.b=2", "method=fixmatch", f"resume='{run_dir}'"]


def test_a_resumed_run_repeats_its_command_line_but_for_what_is_typed_now(tmp_path: Path) -> None:
    run_dir = recorded(tmp_path, "--config-dir=/mine", "shape=own", "fold=3")
    assert completed(f"resume={run_dir}", "fold=4", "max_time=1:00:00") == [
        "--config-dir=/mine",
        "fold=4",
        "max_time=1:00:00",
        "shape=own",
        f"resume='{run_dir}'",
    ]


@pytest.mark.parametrize(
    ("status", "before", "until_pause"), [("finished", "[40]", "[]"), ("interrupted", "[]", "[40]")]
)
def test_more_labels_say_what_labels_there_were_before(
    tmp_path: Path, status: str, before: str, until_pause: str
) -> None:
    words = chosen(f"resume={recorded(tmp_path, status=status)}", "num_labels=50")
    assert (words["labels_before"], words["labels_until_pause"]) == (before, until_pause)
    again = chosen(*(f"{key}={value}" for key, value in words.items()))  # a process that this one has started
    assert again == words


def test_what_follows_from_the_resumed_run_cannot_be_typed(tmp_path: Path) -> None:
    run_dir = recorded(tmp_path, status="finished")
    with pytest.raises(ConfigError, match="labels_before follows from the run that is resumed; leave it out"):
        completed(f"resume={run_dir}", "num_labels=50", "labels_before=[30]")


def test_labels_are_added_and_the_run_continues(tmp_path: Path) -> None:
    """From a folder to a model, in the words of a user; then three more labels."""
    root = two_digits(tmp_path / "own", labels=4, test=2)
    words = (
        "data=folder",
        "backbone=none",
        "data.root=own",
        "max_steps=4",
        "batch_size=4",
        "data.flip=0",
        "pictures=false",
    )
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
    with pytest.raises(ConfigError, match="has as many labels as this run had, but different ones"):
        completed(f"resume={tmp_path / 'second'}")
    for part in ("labeled", "test"):
        (root / part / "one").rename(root / part / "won")
    with pytest.raises(ConfigError, match="has other classes than this run: one, won"):
        completed(f"resume={tmp_path / 'second'}")


@pytest.mark.parametrize("size", ["0", "-1", "abc", "32.5", "[32,32]"])
def test_a_size_that_images_cannot_have_is_refused_before_the_folder_is_read(tmp_path: Path, size: str) -> None:
    with pytest.raises(ConfigError, match=r"data\.size=.* must be a whole number of pixels"):
        completed(f"data.root={tmp_path / 'nowhere'}", "data=folder", f"data.size={size}")


def test_a_folder_may_have_a_comma_in_its_name(tmp_path: Path) -> None:
    root = two_digits(tmp_path / "one, two")
    assert f"data.root={quoted(str(root))}" in completed(f"data.root={root}", "data=folder")


@pytest.fixture
def paced(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which a step takes as many hundredths of a second as images have pixels in a row."""
    monkeypatch.setattr("smoothpl.run.budget.seconds_of_step", lambda config, _: (config.data.get("size") or 8) / 100)
    monkeypatch.setattr("smoothpl.run.budget.measure", lambda config, _: Pace((config.data.get("size") or 8) / 100, 0))


@pytest.mark.usefixtures("paced")
def test_minutes_stand_for_the_steps_that_are_made_in_them() -> None:
    assert completed("fold=1", "minutes=2") == ["fold=1", "max_steps=1500", "eval_every=150"]
    assert completed("minutes=0.5", "eval_every=7", "-m") == ["-m", "eval_every=7", "max_steps=375"]
    assert completed("minutes=null") == []


@pytest.mark.usefixtures("paced")
@pytest.mark.parametrize(
    ("minutes", "size", "steps"),
    [(30, 96, 1875), (15, 64, 1406), (8, 32, 1500), (1, 32, 187)],  # 1,000 steps of 96 pixels: 1.3 * 960 s
)
def test_minutes_choose_the_size_of_images_of_ones_own(tmp_path: Path, minutes: int, size: int, steps: int) -> None:
    root = two_digits(tmp_path / "own")
    for path in root.rglob("*.png"):
        with Image.open(path) as picture:
            picture.resize((100, 100)).save(path)
    words = chosen("data=folder", "backbone=none", f"data.root={root}", f"minutes={minutes}")
    assert (words["data.size"], words["data.padding"]) == (str(size), str(size // 8))
    assert (words["max_steps"], words["eval_every"]) == (str(steps), str(steps // 10))
    words = chosen("data=folder", "backbone=none", f"data.root={root}", f"minutes={minutes}", "data.size=16")
    assert (words["data.size"], words["max_steps"]) == ("16", str(minutes * 375))


@pytest.mark.parametrize(
    ("words", "message"),
    {
        "minutes=soon": r"minutes=soon must be one number above 0",
        "minutes=0": r"minutes=0 must be one number above 0",
        "minutes=-3": r"minutes=-3 must be",
        "minutes=nan": r"minutes=nan must be",
        "minutes=inf": r"minutes=inf must be",
        "minutes=1,2": r"minutes=1,2 must be one number",
        "minutes=1 max_steps=5": r"minutes=1 chooses max_steps; leave one of them out",
        "minutes=1 resume=auto": r"minutes=1 is for a new run; a resumed one takes max_time",
        "minutes=1 trainer=ddp": r"minutes=1 is measured on one device; with trainer=ddp set max_steps",
    }.items(),
)
def test_minutes_that_mean_nothing_are_refused(words: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        completed(*words.split())


def test_a_run_that_was_recorded_with_a_time_limit_is_resumed_without_it(tmp_path: Path) -> None:
    run_dir = recorded(tmp_path, "method=fixmatch", "max_time=00:01:00")
    assert completed(f"resume={run_dir}") == ["method=fixmatch", f"resume='{run_dir}'"]
