import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
import torch

from smoothpl.callbacks import CollapseWatch
from smoothpl.config.recipe import recipe_digest
from smoothpl.errors import Interruption
from smoothpl.module import SemiSupervisedModule
from smoothpl.pseudo.train_step import Taught
from smoothpl.record.record import LabelStage, read
from smoothpl.run.resume import how_to_continue
from tests.support.composing import composed
from tests.support.processes import Process

ALIVE = torch.tensor([[8, 2, 0], [1, 9, 0], [0, 1, 9]])
GONE = torch.tensor([[8, 2, 0], [1, 9, 0], [1, 9, 0]])
NEARLY = torch.tensor([[8, 2, 0], [1, 9, 0], [0, 7, 3]])


def look(watch: CollapseWatch, confusion: torch.Tensor, step: int, **more: Any) -> Mock:
    names = SimpleNamespace(source=SimpleNamespace(class_names=["cat", "dog", "owl"]))
    settings = {"datamodule": names, "sanity_checking": False, "is_global_zero": True, "should_stop": False} | more
    trainer = Mock(global_step=step, max_steps=100, **settings)
    watch.on_validation_end(trainer, Mock(spec=SemiSupervisedModule, last_confusion=confusion))
    return trainer


def test_a_class_that_was_alive_and_is_no_longer_predicted_is_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    watch = CollapseWatch()
    for step, confusion in enumerate([ALIVE, GONE, GONE, NEARLY, ALIVE, GONE, ALIVE], start=10):
        assert not look(watch, confusion, step).should_stop
    assert capsys.readouterr().out.splitlines() == [
        "step 11: COLLAPSED: owl (0%)",
        "step 13: recovering: owl (30%)",
        "step 14: recovered: owl (90%)",
        "step 15: COLLAPSED: owl (0%)",
        "step 16: recovered: owl (90%)",
    ]


def test_a_network_that_has_just_started_has_not_collapsed_but_half_of_the_run_is_enough(
    capsys: pytest.CaptureFixture[str],
) -> None:
    watch = CollapseWatch()
    look(watch, GONE, 10)
    look(watch, GONE, 49)
    assert capsys.readouterr().out == ""
    look(watch, GONE, 50)
    assert "step 50: COLLAPSED" in capsys.readouterr().out


@pytest.mark.parametrize("action", ["stop", "pause"])
def test_it_can_stop_the_run(action: Any) -> None:
    watch = CollapseWatch(action)
    look(watch, ALIVE, 10)
    assert look(watch, GONE, 20).should_stop
    assert str(watch.interruption) == "collapse of class owl"
    assert watch.interruption is not None
    assert watch.interruption.wants_labels == (action == "pause")


def test_it_is_silent_in_the_sanity_check_and_on_other_ranks(capsys: pytest.CaptureFixture[str]) -> None:
    watch = CollapseWatch()
    look(watch, ALIVE, 10)
    look(watch, GONE, 20, sanity_checking=True)
    look(watch, GONE, 20, is_global_zero=False)
    assert capsys.readouterr().out == ""


def test_it_remembers_after_a_resume(capsys: pytest.CaptureFixture[str]) -> None:
    before, after = CollapseWatch(), CollapseWatch()
    look(before, ALIVE, 10)
    look(before, GONE, 20)
    capsys.readouterr()
    after.load_state_dict(before.state_dict())
    look(after, GONE, 30)
    assert capsys.readouterr().out == ""


def teach(watch: CollapseWatch, *predicted: int) -> None:
    """A step with these predictions for its unlabeled images."""
    labels, none = torch.tensor(predicted), torch.zeros(len(predicted))
    names = SimpleNamespace(source=SimpleNamespace(class_names=["cat", "dog", "owl"]))
    module = Mock(spec=SemiSupervisedModule, taught=Taught(labels, none, none, predicted=labels))
    watch.on_train_batch_end(Mock(datamodule=names), module, None, None, 0)


def judge(watch: CollapseWatch, step: int) -> Mock:
    """At an evaluation in which the network is right about every test image; two of four labels are owls."""
    data = SimpleNamespace(
        source=SimpleNamespace(class_names=["cat", "dog", "owl"]), labeled_per_class=torch.tensor([1, 1, 2])
    )
    return look(watch, 10 * torch.eye(3), step, datamodule=data)


def test_it_can_be_judged_by_unlabeled_images_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """The share of a class since the last evaluation, against its share of the labels."""
    watch = CollapseWatch("stop", by="unlabeled")
    judge(watch, 5)  # nothing was seen yet
    teach(watch, 0, 1, 2, 2)
    assert not judge(watch, 10).should_stop
    teach(watch, 0, 0, 1, 1, 1)
    teach(watch, 0, 1, 0, 0, 2, 2)  # together 2 of 11, where a half was fair
    assert not judge(watch, 20).should_stop
    assert watch.story.states == ["alive", "alive", "partly"]
    teach(watch, 0, 1, 0, 1)
    assert judge(watch, 30).should_stop
    assert capsys.readouterr().out == "step 30: COLLAPSED: owl (0%)\n"


def test_by_test_images_the_unlabeled_ones_do_not_count() -> None:
    watch = CollapseWatch("stop")
    teach(watch, 0, 1, 2)
    judge(watch, 10)
    teach(watch, 0, 0, 0)
    assert not judge(watch, 20).should_stop
    assert "predicted" not in watch.state_dict()


def test_what_was_seen_since_the_last_evaluation_survives_a_resume() -> None:
    before, after = (CollapseWatch("stop", by="unlabeled") for _ in range(2))
    teach(before, 0, 1, 2, 2)
    judge(before, 10)
    teach(before, 0, 0, 1)
    after.load_state_dict(before.state_dict())
    teach(after, 2, 2, 2)
    for watch, stops in ((before, True), (after, False)):
        assert judge(watch, 20).should_stop == stops


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match=r"callbacks.collapse.by=luck must be one of test, unlabeled"):
        CollapseWatch(by="luck")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"callbacks.collapse.action=panic must be one of warn, stop, pause"):
        CollapseWatch("panic")  # type: ignore[arg-type]


def test_a_real_run_is_stopped_with_a_checkpoint_and_can_be_resumed_with_more_labels(tmp_path: Path) -> None:
    """A network that learns nothing predicts few classes; by half of the run that is a collapse."""
    knobs = ("optim.learning_rate=0", "max_steps=8", "eval_every=2", "batch_size=4", "callbacks.collapse.action=pause")
    done = Process("smoothpl.train", "hydra.run.dir=run", *knobs, cwd=tmp_path).wait()
    assert done.returncode == 1
    assert "step 4: COLLAPSED" in done.stdout
    assert "interrupted by collapse of class" in done.stderr
    record = read(tmp_path / "run")
    assert record.status == "interrupted"
    assert "collapse of class" in str(record.failure)
    _, _, command = done.stderr.partition("to resume with more labels: ")
    python, dash_m, module, *words = shlex.split(command.partition("; without: ")[0])
    assert (python, dash_m, module) == ("python", "-m", "smoothpl.train")
    assert words[1:] == ["num_labels=50"]
    done = Process(module, *words, cwd=tmp_path).wait()
    assert done.returncode == 0, done.stderr
    after = read(tmp_path / "run")
    assert (after.resumed_at, len(after.labeled)) == ([4], 50)
    assert set(record.labeled) < set(after.labeled)
    assert after.label_history == [LabelStage(40, 0, ""), LabelStage(50, 4, "")]
    assert "begun=40" in after.name
    assert after.recipe not in (record.recipe, recipe_digest(composed(*knobs, "num_labels=50")))


@pytest.mark.parametrize("by", ["test", "unlabeled"])
def test_stopping_leaves_the_plain_command(tmp_path: Path, by: str) -> None:
    knobs = ("optim.learning_rate=0", "max_steps=4", "eval_every=2", "batch_size=4", "callbacks.collapse.action=stop")
    done = Process("smoothpl.train", "hydra.run.dir=run", f"callbacks.collapse.by={by}", *knobs, cwd=tmp_path).wait()
    assert f"to resume: python -m smoothpl.train resume={tmp_path}/run" in done.stderr
    assert "more labels" not in done.stderr


@pytest.mark.parametrize("words", ["method=fully_supervised num_labels=null", "split.unlabeled_includes_labeled=false"])
def test_more_labels_are_not_offered_where_they_cannot_be_had(words: str) -> None:
    paused = Interruption("collapse of class owl", wants_labels=True)
    assert "more labels" in how_to_continue(composed(), Path("run"), paused)
    assert "more labels" not in how_to_continue(composed(*words.split()), Path("run"), paused)
