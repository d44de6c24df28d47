"""More labels: real runs that start from trained ones, killed ones among them, and what is refused."""

import shutil
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from smoothpl.errors import ConfigError
from smoothpl.record.record import LabelStage, Record, new_record, read, write
from smoothpl.run.more_labels import check_nested, inherit, knobs_of_more_labels, note_stage
from smoothpl.run.resume import find_parent
from tests.support.composing import composed
from tests.support.lives import KNOBS, differences, killer, outcome, resume, run
from tests.support.processes import Process


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run with 40 labels."""
    run_dir = tmp_path_factory.mktemp("trained") / "run"
    done = run(run_dir)
    assert done.returncode == 0, done.stderr
    return run_dir


def grow(trained: Path, run_dir: Path, *knobs: str) -> Any:
    run_dir.parent.mkdir(parents=True, exist_ok=True)
    words = (f"resume={trained}", "num_labels=50", f"hydra.run.dir={run_dir}", *knobs)
    return Process("smoothpl.train", *words, cwd=run_dir.parent).wait()


def test_a_finished_run_continues_with_more_labels_in_a_directory_of_its_own(trained: Path, tmp_path: Path) -> None:
    before, files = read(trained), {path: path.read_bytes() for path in trained.rglob("*") if path.is_file()}
    done = grow(trained, tmp_path / "grown")
    assert done.returncode == 0, done.stderr
    assert "40, then 50" in done.stdout
    assert {path: path.read_bytes() for path in trained.rglob("*") if path.is_file()} == files
    after = read(tmp_path / "grown")
    assert set(before.labeled) < set(after.labeled)
    assert after.label_history == [LabelStage(40, 0, str(trained)), LabelStage(50, 0, "")]
    assert (after.config["labels_before"], after.config["num_labels"]) == ([40], 50)
    assert "after=40" in after.name
    assert [each.step for each in after.history] == [each.step for each in before.history]
    again = grow(tmp_path / "grown", tmp_path / "more", "num_labels=60")
    assert again.returncode == 0, again.stderr
    assert [stage.num_labels for stage in read(tmp_path / "more").label_history] == [40, 50, 60]
    shutil.rmtree(tmp_path / "grown")  # a run that is done needs its parent no more
    done = resume(tmp_path / "more")
    assert done.returncode == 0, done.stderr


def test_it_begins_with_the_weights_of_the_trained_run(trained: Path, tmp_path: Path) -> None:
    """A run that learns nothing shows where it began."""
    done = grow(trained, tmp_path / "grown", "optim.learning_rate=0", "resume_allow=[optim.learning_rate]")
    assert done.returncode == 0, done.stderr
    parent, child = (torch.load(place / "last.ckpt", weights_only=True) for place in (trained, tmp_path / "grown"))
    weights = [key for key in parent["state_dict"] if key.startswith("network.") and key.endswith(("weight", "bias"))]
    assert len(weights) > 10
    assert all(torch.equal(parent["state_dict"][key], child["state_dict"][key]) for key in weights)


def test_both_networks_are_inherited(tmp_path: Path) -> None:
    from smoothpl.run.build import build_module

    torch.manual_seed(1)
    parent = build_module(composed())
    for weight in parent.average.parameters():
        weight.data.mul_(2)
    torch.save({"state_dict": parent.state_dict()}, tmp_path / "last.ckpt")
    torch.manual_seed(2)
    child = build_module(composed())
    record = Record({}, "", label_history=[LabelStage(40, 0, str(tmp_path)), LabelStage(50, 0, "")])
    inherit(child, record)
    for name in ("network", "average"):
        assert differences(getattr(child, name).state_dict(), getattr(parent, name).state_dict()) == []
    (tmp_path / "last.ckpt").unlink()
    with pytest.raises(ConfigError, match=r"last\.ckpt is gone, whose weights this run starts from"):
        inherit(child, record)


def test_a_grown_run_that_was_killed_ends_as_if_it_had_been_left_alone(trained: Path, tmp_path: Path) -> None:
    """Before its first checkpoint it begins with its parent again."""
    assert grow(trained, tmp_path / "alone").returncode == 0
    for step in (2, 8):
        killed = tmp_path / f"killed {step}"
        cut_short = grow(trained, killed, killer("step", step), "resume_allow=[callbacks.killer]")
        assert cut_short.returncode == -signal.SIGKILL
        done = resume(killed, "+callbacks.killer=null", "resume_allow=[callbacks.killer]")
        assert done.returncode == 0, done.stderr
        assert differences(outcome(killed), outcome(tmp_path / "alone")) == []


def test_a_sweep_over_growing_labels_finds_the_runs_that_it_starts_from(tmp_path: Path) -> None:
    knobs = ("max_steps=2", "eval_every=2", "batch_size=4", "pictures=false", "callbacks.progress=null")
    words = ("experiment=growing_labels", "benchmark=digits_random", "method=fixmatch", "fold=1")
    command = ("smoothpl.train", "-m", *words, "num_labels=40,50,60", *knobs)
    done = Process(*command, "hydra.sweep.dir=outputs/sweep", cwd=tmp_path).wait()
    assert done.returncode == 0, done.stderr
    records = {record.config["num_labels"]: record for record in map(read, runs_below(tmp_path))}
    stages = [(stage.num_labels, bool(stage.run)) for stage in records[60].label_history]
    assert stages == [(40, True), (50, True), (60, False)]
    assert records[40].config["labels_before"] == []
    assert "What more labels bring, continued" in done.stdout

    done = Process(*command, "fold=2", "num_labels=60", cwd=tmp_path).wait()
    assert done.returncode == 1
    assert "labels_before=[40, 50] starts from a finished run of the same recipe with 50 labels" in done.stderr
    assert "there is none; train it first, with num_labels=50 labels_before=[40]" in done.stderr


def runs_below(folder: Path) -> list[Path]:
    return [path.parent for path in folder.rglob("run.json")]


def test_other_differences_than_the_labels_must_be_allowed_by_name(trained: Path, tmp_path: Path) -> None:
    done = grow(trained, tmp_path / "grown", "threshold=0.9")
    assert done.returncode == 1
    assert "these settings differ from the resumed run: policy.threshold was 0.95, is 0.9; threshold" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_refused_growth_leaves_everything_as_it_was(tmp_path: Path) -> None:
    """Largest remainders are not nested: with 40 labels a class has fewer than with 38."""
    tails = ("split=imbalanced", "split.labeled_tail=5", "split.keep=1", "num_labels=38")
    run_dir = tmp_path / "run"
    assert run(run_dir, *tails, "max_time=00:00:00").returncode == 1
    before = (run_dir / "run.json").read_text()
    done = resume(run_dir, "num_labels=40")
    assert done.returncode == 1
    assert "carry none now; labels are added within one fold" in done.stderr
    assert (run_dir / "run.json").read_text() == before
    assert run(tmp_path / "done", *tails).returncode == 0
    done = grow(tmp_path / "done", tmp_path / "grown", "num_labels=40")
    assert "carry none now" in done.stderr
    assert not (tmp_path / "grown").exists()


def test_a_paused_run_continues_with_more_labels_and_never_with_fewer(tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    assert run(run_dir, "max_time=00:00:00").returncode == 1
    assert resume(run_dir, "num_labels=60", "max_time=00:00:00").returncode == 1
    assert read(run_dir).label_history == [LabelStage(40, 0, ""), LabelStage(60, 1, "")]
    done = resume(run_dir, "num_labels=50")
    assert "labels_until_pause=[40, 60], then num_labels=50: labels can only be added" in done.stderr
    done = resume(run_dir)
    assert done.returncode == 0, done.stderr
    assert "40, then 60 from step 1 on" in done.stdout
    grown = grow(run_dir, tmp_path / "grown", "num_labels=70")
    assert grown.returncode == 0, grown.stderr
    after = read(tmp_path / "grown")
    assert (after.config["labels_before"], after.config["labels_until_pause"]) == ([40, 60], [])
    assert [stage.num_labels for stage in after.label_history] == [40, 60, 70]


def test_a_run_that_has_learned_nothing_yet_has_nothing_to_go_on_from(tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    assert run(run_dir, killer("step", 2)).returncode == -signal.SIGKILL
    done = resume(run_dir, "num_labels=50", "+callbacks.killer=null", "resume_allow=[callbacks.killer]")
    assert done.returncode == 1
    assert "nothing was learned with these labels: there is no checkpoint" in done.stderr
    assert [stage.num_labels for stage in read(run_dir).label_history] == [40]


def test_a_directory_that_holds_a_run_is_no_place_for_a_grown_one(trained: Path, tmp_path: Path) -> None:
    before = (trained / "run.json").read_text()
    done = grow(trained, trained)
    assert f"{trained} already holds a run, and a run is never overwritten" in done.stderr
    other = tmp_path / "other"
    other.mkdir()
    write(other, Record({"num_labels": 40}, "recipe", status="finished"))
    done = grow(trained, other)
    assert f"{other} already holds a run, and a run is never overwritten" in done.stderr
    assert (trained / "run.json").read_text() == before


def test_a_finished_run_with_another_configuration_is_no_parent(trained: Path, tmp_path: Path) -> None:
    done = Process("smoothpl.train", f"resume={trained}", "threshold=0.9", cwd=tmp_path).wait()
    assert done.returncode == 1
    assert "these settings differ from the resumed run" in done.stderr


def test_labels_until_a_pause_need_a_paused_run(tmp_path: Path) -> None:
    done = Process("smoothpl.train", "resume=auto", "labels_until_pause=[20]", *KNOBS, cwd=tmp_path).wait()
    assert done.returncode == 1
    assert "labels_until_pause=[20], but nothing was learned with these labels" in done.stderr
    assert list(tmp_path.rglob("run.json")) == []


@pytest.mark.parametrize(
    ("status", "config", "knobs"),
    [
        ("finished", {"num_labels": 40}, {"labels_before": [40], "labels_until_pause": []}),
        ("finished", {"num_labels": 45, "labels_before": [40]}, {"labels_before": [40, 45], "labels_until_pause": []}),
        (
            "finished",
            {"num_labels": 45, "labels_before": [30], "labels_until_pause": [40]},
            {"labels_before": [30, 40, 45], "labels_until_pause": []},
        ),
        ("interrupted", {"num_labels": 40}, {"labels_before": [], "labels_until_pause": [40]}),
        (
            "interrupted",
            {"num_labels": 45, "labels_before": [30], "labels_until_pause": [40]},
            {"labels_before": [30], "labels_until_pause": [40, 45]},
        ),
        ("finished", {"num_labels": 50}, {}),
        ("finished", {"num_labels": None}, {}),
    ],
)
def test_what_resuming_with_more_labels_means(status: str, config: dict[str, Any], knobs: dict[str, list[int]]) -> None:
    assert knobs_of_more_labels(Record(config, "recipe", status=status), "50") == knobs


def test_a_parent_is_a_finished_run_whatever_else_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = composed("num_labels=50", "labels_before=[40]")
    assert find_parent(composed()) is None
    with pytest.raises(ConfigError, match="and there is none; train it first"):
        find_parent(config)
    places = [tmp_path / "outputs" / "fold=0,seed=2046" / name for name in ("done", "newer")]
    for place in places:
        place.mkdir(parents=True)
    record = new_record(composed())
    record.status, record.started = "interrupted", "2026-11-17"
    write(tmp_path / "outputs" / "fold=0,seed=2046" / "newer", record)
    with pytest.raises(
        ConfigError, match=r"with 40 labels, fold=0 and seed=2046 .* and that in .*newer is interrupted"
    ):
        find_parent(config)
    record.status, record.started = "finished", "2026-11-16"
    write(places[0], record)
    parent = find_parent(config)
    assert parent is not None
    assert parent.run_dir.name == "done"


def test_no_label_is_taken_back() -> None:
    source = SimpleNamespace(train=SimpleNamespace(labels=torch.tensor([9, 7, 8, 7, 9, 9])))
    fold = SimpleNamespace(labeled=torch.tensor([1, 2, 3]))
    data: Any = SimpleNamespace(setup=lambda stage: None, fold=fold, source=source)
    check_nested(Record({}, ""), data)
    check_nested(Record({}, "", labeled=[1, 3], labeled_as=[7, 7]), data)
    check_nested(Record({}, "", labeled=[1, 3]), data)  # of a version that did not write classes down
    with pytest.raises(ConfigError, match="2 of the 3 images that carried labels before, image 4 among them"):
        check_nested(Record({}, "", labeled=[1, 4, 5], labeled_as=[7, 9, 9]), data)
    with pytest.raises(ConfigError, match="1 of the 2 images that carried labels before have other labels now"):
        check_nested(Record({}, "", labeled=[1, 3], labeled_as=[7, 8]), data)


def test_the_record_knows_since_when_there_are_more_labels() -> None:
    record = Record({}, "", label_history=[LabelStage(40, 0, "")])
    note_stage(record, 40, 100)
    assert record.label_history == [LabelStage(40, 0, "")]
    note_stage(record, 50, 200)
    note_stage(record, 50, 300)
    assert record.label_history == [LabelStage(40, 0, ""), LabelStage(50, 200, "")]
    note_stage(record, 50, 150)  # the checkpoint of step 200 was damaged
    assert record.label_history[-1] == LabelStage(50, 150, "")
    note_stage(record, None, 0)
