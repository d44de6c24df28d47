"""Labels that grow: real runs that go on from trained ones, killed ones among them, and what is refused."""

import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from smoothpl.errors import ConfigError
from smoothpl.growth import Parent, check_nested, find_parent, inherit, note_stage
from smoothpl.results.record import LabelStage, Record, new_record, read, write
from smoothpl.resume import with_recorded_overrides
from tests.composing import composed
from tests.lives import differences, killer, outcome, resume, run
from tests.processes import Process


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


def test_a_finished_run_goes_on_with_more_labels_in_a_directory_of_its_own(trained: Path, tmp_path: Path) -> None:
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


def test_it_begins_with_the_weights_of_the_trained_run(trained: Path, tmp_path: Path) -> None:
    """A run that learns nothing shows where it began."""
    done = grow(trained, tmp_path / "grown", "optim.learning_rate=0", "resume_allow=[optim.learning_rate]")
    assert done.returncode == 0, done.stderr
    parent, child = (torch.load(place / "last.ckpt", weights_only=True) for place in (trained, tmp_path / "grown"))
    weights = [key for key in parent["state_dict"] if key.startswith("network.") and key.endswith(("weight", "bias"))]
    assert len(weights) > 10
    assert all(torch.equal(parent["state_dict"][key], child["state_dict"][key]) for key in weights)


def test_both_networks_are_inherited(tmp_path: Path) -> None:
    from smoothpl.build import build_module

    torch.manual_seed(1)
    parent = build_module(composed())
    for weight in parent.average.parameters():
        weight.data.mul_(2)
    torch.save({"state_dict": parent.state_dict()}, tmp_path / "last.ckpt")
    torch.manual_seed(2)
    child = build_module(composed())
    inherit(child, Parent(Record({}, ""), tmp_path))
    for name in ("network", "average"):
        assert differences(getattr(child, name).state_dict(), getattr(parent, name).state_dict()) == []


@pytest.mark.parametrize("step", [2, 8])
def test_a_grown_run_that_was_killed_ends_as_if_it_had_been_left_alone(
    trained: Path, tmp_path: Path, step: int
) -> None:
    """Before its first checkpoint it begins with its parent again."""
    assert grow(trained, tmp_path / "alone").returncode == 0
    cut_short = grow(trained, tmp_path / "killed", killer("step", step), "resume_allow=[callbacks.killer]")
    assert cut_short.returncode == -signal.SIGKILL
    done = resume(tmp_path / "killed", "+callbacks.killer=null", "resume_allow=[callbacks.killer]")
    assert done.returncode == 0, done.stderr
    assert differences(outcome(tmp_path / "killed"), outcome(tmp_path / "alone")) == []


def test_a_sweep_over_growing_labels_finds_the_runs_that_it_goes_on_from(tmp_path: Path) -> None:
    knobs = ("max_steps=2", "eval_every=2", "batch_size=4", "pictures=false", "callbacks.progress=null")
    words = ("experiment=growing_labels", "benchmark=digits_random", "method=fixmatch", "fold=1")
    command = ("smoothpl.train", "-m", *words, "num_labels=40,50,60", *knobs)
    done = Process(*command, "hydra.sweep.dir=outputs/sweep", cwd=tmp_path).wait()
    assert done.returncode == 0, done.stderr
    records = {record.config["num_labels"]: record for record in map(read, runs_below(tmp_path))}
    stages = [(stage.num_labels, bool(stage.run)) for stage in records[60].label_history]
    assert stages == [(40, True), (50, True), (60, False)]
    assert records[40].config["labels_before"] == []
    assert ", going on | 50 → 60 |" in (tmp_path / "outputs" / "sweep" / "report.md").read_text()

    done = Process(*command, "fold=2", "num_labels=60", cwd=tmp_path).wait()
    assert done.returncode == 1
    assert "labels_before=[40, 50] goes on from a finished run of the same recipe with 50 labels" in done.stderr
    assert "there is none; make it first, with num_labels=50 labels_before=[40]" in done.stderr


def runs_below(folder: Path) -> list[Path]:
    return [path.parent for path in folder.rglob("run.json")]


def test_other_differences_than_the_labels_must_be_allowed_by_name(trained: Path, tmp_path: Path) -> None:
    done = grow(trained, tmp_path / "grown", "threshold=0.9")
    assert done.returncode == 1
    assert "this is not the run that was begun: policy.threshold: 0.95 then, 0.9 now; threshold" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("status", "config", "words"),
    [
        ("finished", {"num_labels": 40}, ["labels_before=[40]"]),
        ("finished", {"num_labels": 45, "labels_before": [40]}, ["labels_before=[40, 45]"]),
        ("interrupted", {"num_labels": 40}, ["labels_before=[]", "labels_at_start=40"]),
        ("interrupted", {"num_labels": 45, "labels_at_start": 40}, ["labels_before=[]", "labels_at_start=40"]),
        ("interrupted", {"num_labels": 45, "labels_before": [40]}, ["labels_before=[40]", "labels_at_start=45"]),
        ("finished", {"num_labels": 50}, []),
        ("finished", {"num_labels": None}, []),
    ],
)
def test_what_resuming_with_more_labels_means(
    tmp_path: Path, status: str, config: dict[str, Any], words: list[str]
) -> None:
    write(tmp_path, Record(config, "recipe", status=status))
    said = with_recorded_overrides([f"resume={tmp_path}", "num_labels=50"])
    assert said == ["num_labels=50", *words, f"resume='{tmp_path}'"]


def test_a_run_without_its_last_checkpoint_cannot_be_gone_on_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "outputs" / "fold=0,seed=2046" / "run"
    place.mkdir(parents=True)
    record = new_record(composed())
    write(place, record)
    config = composed("num_labels=50", "labels_before=[40]")
    with pytest.raises(ConfigError, match=r"with 40 labels, fold=0 and seed=2046 .* and that in .* is running"):
        find_parent(config, tmp_path / "new")
    record.status = "finished"
    write(place, record)
    with pytest.raises(ConfigError, match=r"has no last\.ckpt to go on from; train with num_labels=50"):
        find_parent(config, tmp_path / "new")
    assert find_parent(composed(), tmp_path / "new") is None


def test_no_label_is_taken_back() -> None:
    data: Any = SimpleNamespace(setup=lambda stage: None, fold=SimpleNamespace(labeled=torch.tensor([1, 2, 3])))
    check_nested([], data)
    check_nested([1, 3], data)
    with pytest.raises(ConfigError, match="2 of the 3 images that carried labels before, image 4 among them"):
        check_nested([1, 4, 5], data)


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
