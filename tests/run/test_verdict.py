"""The verdict on digits by their pixels, which a head learns in no time; and on digits from scratch."""

from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pytest
import torch

from smoothpl.config.overrides import CommandLine
from smoothpl.data import digits
from smoothpl.errors import ConfigError, DivergenceError, Interruption
from smoothpl.inference.classifier import load
from smoothpl.record.record import Record, read, read_below, write
from smoothpl.run import verdict
from smoothpl.run.command_line import complete
from smoothpl.run.resume import find_same
from smoothpl.run.training import train
from smoothpl.run.verdict import time_until, with_verdict
from tests.support.composing import TINY, composed
from tests.support.images import in_memory

CONF = Path(__file__).parents[1] / "support" / "conf"
QUIET = ("callbacks.progress=null", "pictures=false", "logger=none")
FEATURES = ("backbone=pixels", *QUIET, "batch_size=32", f"hydra.searchpath=['file://{CONF}']")
HELPS = ("unlabeled_ratio=3", "max_steps=100", "optim.learning_rate=0.01", "num_labels=20")
DOES_NOTHING = ("unlabeled_ratio=2", "max_steps=30", "threshold=0.99", "head.temperature=4")
HURTS = (
    *("unlabeled_ratio=3", "max_steps=40", "optim.learning_rate=0.05", "unlabeled_weight=30", "threshold=0.1"),
    *("head.temperature=0.05", "num_labels=20"),
)


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def judged(run_dir: Path, *words: str) -> Record:
    config = composed(*words)
    return with_verdict(config, run_dir, train(config, run_dir), None, monotonic())


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run_dir = tmp_path_factory.mktemp("told") / "run"
    judged(run_dir, *FEATURES, *HELPS, "verdict=tell")
    return run_dir


@pytest.fixture(scope="module")
def hurt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run_dir = tmp_path_factory.mktemp("hurt") / "run"
    judged(run_dir, *FEATURES, *HURTS, "verdict=choose")
    return run_dir


def wrong_by(run_dir: Path) -> set[int]:
    """By the network as it is loaded, which training knows nothing of."""
    test = in_memory(digits().test)
    predicted = load(run_dir, trust=True).predict_pixels(test.images).labels
    return {number for number, label in enumerate(predicted) if label != str(int(test.labels[number]))}


def test_both_are_compared_on_the_same_test_images(told: Path) -> None:
    alone, run = wrong_by(told / "labels_only"), wrong_by(told)
    record = read(told)
    assert record.verdict is not None
    assert record.verdict.compared == (500, len(alone & run), len(alone - run), len(run - alone))
    assert record.verdict.tested_on == "test images"
    assert record.verdict.gain == pytest.approx((len(alone) - len(run)) / 5)
    assert record.verdict.held_out is None  # which nobody has asked for
    assert not (told / "parts").exists()
    assert record.handed_over == ""


def test_the_twin_is_the_run_that_one_would_have_trained_for_labels_alone(told: Path, tmp_path: Path) -> None:
    words = [word for word in (*FEATURES, *HELPS) if not word.startswith("unlabeled_ratio")]
    train(composed(*words, "method=supervised"), tmp_path / "run")
    alone, twin = (
        torch.load(place / "last.ckpt", weights_only=True)["state_dict"]
        for place in (tmp_path / "run", told / "labels_only")
    )
    assert alone.keys() == twin.keys()
    assert all(torch.equal(alone[name], twin[name]) for name in alone)
    assert read(told / "labels_only").recipe == read(tmp_path / "run").recipe


def test_what_stands_beside_a_run_is_not_taken_for_a_run_of_its_own(told: Path) -> None:
    assert [*read_below([told.parent])] == [told]
    words = [word for word in (*FEATURES, *HELPS) if not word.startswith("unlabeled_ratio")]
    assert find_same(composed(*words, "method=supervised"), told.parent, ()) is None
    with pytest.raises(ConfigError, match=f"labels_only stands beside another run, with .*: resume={told}"):
        complete(CommandLine.parse([f"resume={told / 'labels_only'}"]))


def check_promise(record: Record) -> None:
    """What is handed over is never worse than labels alone, as far as the labels can tell."""
    found = record.verdict
    assert found is not None
    assert found.held_out is not None
    assert found.loss is not None
    assert found.loss_alone is not None
    loss, errors = (
        (found.loss_alone, found.held_out.first) if record.handed_over else (found.loss, found.held_out.second)
    )
    assert loss <= found.loss_alone + 0.001
    assert errors <= found.held_out.first


def test_the_promise_holds_where_the_unlabeled_images_hurt(hurt: Path) -> None:
    check_promise(read(hurt))
    assert read(hurt).handed_over == "labels_only"


def test_the_promise_holds_where_they_do_nothing_and_then_they_stay(tmp_path: Path) -> None:
    record = judged(tmp_path, *FEATURES, *DOES_NOTHING, "verdict=choose")
    check_promise(record)
    assert record.verdict is not None
    assert record.verdict.compared.only_first == record.verdict.compared.only_second == 0
    assert record.handed_over == ""


def test_labels_alone_are_loaded_where_the_unlabeled_images_hurt(hurt: Path) -> None:
    record = read(hurt)
    assert record.verdict is not None
    assert record.verdict.says == "hurt"
    assert record.handed_over == "labels_only"
    images = in_memory(digits().test).images[:50]
    used, alone = (load(place, trust=True).predict_pixels(images) for place in (hurt, hurt / "labels_only"))
    assert torch.equal(used.probabilities, alone.probabilities)


def test_only_labels_that_were_held_out_choose(hurt: Path) -> None:
    """Each of the 20 labels tests once, in a run that has not seen it."""
    labeled, tested = {*read(hurt).labeled}, []
    assert sorted(place.name for place in (hurt / "parts").iterdir()) == ["0", "1", "2", "3", "4"]
    losses = []
    for place in (hurt / "parts").iterdir():
        part, alone = read(place), read(place / "labels_only")
        assert part.labeled == alone.labeled
        assert part.tested_on == alone.tested_on == f"labeled images held out, part {place.name} of 5"
        tested += sorted(labeled - {*part.labeled})
        losses.append(part.num_test * np.array(part.surprise))
    assert sorted(tested) == sorted(labeled)
    found = read(hurt).verdict
    assert found is not None
    assert found.held_out is not None
    assert (found.held_out.total, found.num_parts) == (20, 5)
    assert found.loss == pytest.approx((np.sum(losses, axis=0) / 20).min())
    assert found.compared.total == 500  # what is told is told of the test images


def test_a_verdict_that_was_interrupted_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words, trained = (*FEATURES, "max_steps=3", "num_labels=20", "verdict=choose"), []

    def interrupted(config: Any, place: Path, *more: Any) -> Record:
        trained.append(str(place.relative_to(tmp_path)))
        if len(trained) == 4:
            raise Interruption("SIGTERM")
        return train(config, place, *more)

    monkeypatch.setattr(verdict, "train", interrupted)
    with pytest.raises(Interruption):
        judged(tmp_path, *words)
    assert read(tmp_path).status == "finished"
    assert read(tmp_path).verdict is None
    record = judged(tmp_path, *words, "resume=auto")
    assert record.verdict is not None
    assert trained[:3] == ["labels_only", "parts/0/labels_only", "parts/0"]
    assert trained[3:] == [trained[3], *(f"parts/{n}{end}" for n in range(1, 5) for end in ("/labels_only", ""))]
    assert len(trained) == 12  # and nothing twice


def test_a_verdict_can_be_asked_for_later_and_the_promise_holds_where_unlabeled_images_help(
    told: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read(told)
    record = judged(told, *FEATURES, *HELPS, "verdict=choose", "resume=auto")
    assert before.verdict is not None
    assert record.verdict is not None
    assert record.verdict.compared == before.verdict.compared
    assert record.handed_over == ""
    check_promise(record)
    assert read(told).config["verdict"] == {"action": "choose"}
    monkeypatch.setattr(verdict, "train", None)  # nothing is trained again
    assert judged(told, *FEATURES, *HELPS, "verdict=tell", "resume=auto").verdict == before.verdict


def test_a_network_that_diverges_knows_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def diverging(config: Any, place: Path, *more: Any) -> Record:
        record = train(config, place, *more)
        if place.name == "0":
            record.status = "failed"
            write(place, record)
            raise DivergenceError("training has diverged by step 1")
        return record

    monkeypatch.setattr(verdict, "train", diverging)
    record = judged(tmp_path, *FEATURES, "max_steps=3", "num_labels=20", "verdict=choose")
    assert record.verdict is not None
    assert record.verdict.loss is None
    assert record.verdict.held_out is not None
    assert record.verdict.held_out.second >= 4
    assert record.handed_over == "labels_only"


def test_a_class_with_one_label_holds_nothing_out(tmp_path: Path) -> None:
    record = judged(tmp_path, *FEATURES, "max_steps=3", "num_labels=10", "verdict=choose")
    assert record.verdict is not None
    assert record.verdict.held_out is None
    assert record.handed_over == ""


def test_from_scratch_a_twin_is_trained_and_compared_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = judged(tmp_path, *TINY, "logger=none", "pictures=false", "verdict=tell")
    assert record.verdict is not None
    assert record.verdict.compared.total == 500
    assert "The same from labels alone" in capsys.readouterr().err


def test_labels_alone_have_nothing_to_be_compared_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = judged(tmp_path, *FEATURES, "max_steps=2", "method=supervised", "verdict=tell")
    assert record.verdict is None
    assert "method=supervised learns from labels alone, so there is nothing to compare" in capsys.readouterr().err


def test_a_run_that_did_not_keep_its_answers_is_refused(tmp_path: Path) -> None:
    record = Record({}, "abc", error=12.0)
    with pytest.raises(ConfigError, match="did not keep which images it is wrong about; train it again"):
        with_verdict(composed("verdict=tell"), tmp_path, record, None, monotonic())


def test_a_run_of_other_settings_is_not_taken_for_the_twin(told: Path, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    config = composed(*FEATURES, "max_steps=2", "verdict=tell")
    record = train(config, run_dir)
    (run_dir / "labels_only").mkdir()
    write(run_dir / "labels_only", read(told / "labels_only"))
    with pytest.raises(ConfigError, match=r"labels_only holds a run of other settings than .*; move it away"):
        with_verdict(config, run_dir, record, None, monotonic())


def test_what_is_left_of_max_time_is_for_the_runs_beside() -> None:
    assert time_until(monotonic() + 3725.5) == "1:2:5"
    with pytest.raises(Interruption, match="max_time"):
        time_until(monotonic())
