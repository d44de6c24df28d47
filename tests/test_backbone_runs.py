"""Whole runs on features: the same training as on images, for every method."""

import signal
from pathlib import Path

import numpy as np
import pytest
import torch
from torchvision import models

from smoothpl.backbones.build import build_one
from smoothpl.config.checks import check
from smoothpl.config.recipe import recipe_digest
from smoothpl.errors import ConfigError
from smoothpl.inference.parts import read_parts
from smoothpl.record.record import read
from smoothpl.run.resume import check_backbones
from smoothpl.run.training import train
from tests.support.backbones import TINY_BACKBONE
from tests.support.composing import HEADS, SMALL, TINY, composed, options
from tests.support.lives import differences, killer, outcome, resume, run
from tests.test_ddp import CALM, CLOSE, TWO

METHODS = [each for each in options("method") if each not in ("fully_supervised", "dst", "crmatch")]


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> object:
    """The features of the digits are made once for all of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.mark.parametrize("method", METHODS)
def test_every_method_learns_from_features(tmp_path: Path, method: str) -> None:
    words = (*TINY_BACKBONE, *TINY, f"method={method}", "max_steps=40", "eval_every=40", "pictures=true")
    record = train(composed(*words), tmp_path)
    assert record.status == "finished"
    assert record.error is not None
    assert record.error < 75  # 90 is guessing
    assert ("train/coverage" in record.metrics) == (method != "supervised")
    assert list(record.backbones) == ["tiny"]
    assert (tmp_path / "pseudo_labels.png").is_file() == (method != "supervised")


def test_a_head_that_only_learns_through_features_is_refused_where_they_stay_as_they_are() -> None:
    with pytest.raises(ConfigError, match=r"learned_head=pseudo teaches the features below it.*use backbone=none, or"):
        check(composed(*TINY_BACKBONE, *TINY, "method=dst"))
    with pytest.raises(ConfigError, match=r"method=crmatch teaches the features .*; use method=fixmatch"):
        check(composed(*TINY_BACKBONE, *TINY, "method=crmatch"))


@pytest.mark.parametrize("net", HEADS)
@pytest.mark.parametrize("init", ["fresh", "probe"])
def test_every_head_learns_from_every_start(tmp_path: Path, net: str, init: str) -> None:
    words = (f"net={net}", f"head={init}", "method=fixmatch", "pictures=false", "max_steps=20", "eval_every=20")
    record = train(composed(*TINY_BACKBONE, *TINY, *words), tmp_path)
    assert record.error is not None
    assert record.error < 80


def test_the_scale_of_features_is_stored_with_the_run(tmp_path: Path) -> None:
    train(composed(*TINY_BACKBONE, *TINY, "pictures=false"), tmp_path)
    state = torch.load(tmp_path / "last.ckpt", weights_only=True)["state_dict"]
    for name in ("network", "average"):
        assert state[f"{name}.mean"].abs().max() > 0
        assert state[f"{name}.scale"].max() > 1
        assert float(state[f"{name}.temperature"]) == 0.25


def test_two_backbones_train_together_and_are_judged_together(tmp_path: Path) -> None:
    other = (
        "+backbone.encoders.other._target_=tests.support.backbones.tiny_encoder",
        "+backbone.encoders.other.size=4",
    )
    record = train(
        composed(*TINY_BACKBONE, *other, *TINY, "method=flexmatch", "max_steps=40", "eval_every=40"), tmp_path
    )
    assert record.error is not None
    assert record.error < 75


@pytest.mark.parametrize("finetune", [(), ("finetune=norms", "finetune.max_steps=2", "finetune.batch_size=4")])
def test_vectors_that_are_refused_leave_nothing_so_that_the_corrected_run_may_have_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, finetune: tuple[str, ...]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # with no vectors yet
    config = composed(*SMALL, *TINY, "pictures=false", *finetune)
    with monkeypatch.context() as patch:
        patch.setattr("smoothpl.backbones.engine.by_torch", lambda _, prepared: prepared.flatten(1) * torch.nan)
        with pytest.raises(ConfigError, match="gives vectors that are not finite"):
            train(config, tmp_path / "run")
    assert list((tmp_path / "run").iterdir()) == []
    assert train(config, tmp_path / "run").status == "finished"
    with pytest.raises(ConfigError, match="already holds a run"):
        train(config, tmp_path / "run")


@pytest.mark.parametrize("wrong", ["names", "numbers"])
def test_embeddings_that_are_refused_leave_nothing(tmp_path: Path, wrong: str) -> None:
    names = [*(f"train/{number}" for number in range(1297)), *(f"test/{number}" for number in range(500))]
    vectors = np.ones((len(names), 2), dtype=np.float32)
    if wrong == "numbers":
        vectors[3] = np.nan
    np.save(tmp_path / "vectors.npy", vectors)
    (tmp_path / "names.txt").write_text("\n".join(f"{wrong}/{each}" if wrong == "names" else each for each in names))
    places = (f"backbone.path={tmp_path / 'vectors.npy'}", f"backbone.files={tmp_path / 'names.txt'}")
    with pytest.raises(ConfigError, match=r"has no vector for|not finite"):
        train(composed("backbone=embeddings", *places, *TINY), tmp_path / "run")
    assert list((tmp_path / "run").iterdir()) == []


@pytest.mark.processes
def test_a_killed_run_on_features_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    words = (*TINY_BACKBONE, "method=flexmatch", "optim.learning_rate=0.01")
    assert run(tmp_path / "whole", *words).returncode == 0
    assert run(tmp_path / "killed", *words, killer("step", 15)).returncode == -signal.SIGKILL
    assert resume(tmp_path / "killed", "+callbacks.killer=null", "resume_allow=[callbacks.killer]").returncode == 0
    assert differences(outcome(tmp_path / "whole"), outcome(tmp_path / "killed")) == []


@pytest.mark.processes
def test_two_processes_learn_on_features_what_one_does(tmp_path: Path) -> None:
    states = []
    for name, words in (("one", ()), ("two", TWO)):
        done = run(tmp_path / name, *TINY_BACKBONE, "method=flexmatch", *CALM, "batch_size=8", *words)
        assert done.returncode == 0, done.stderr
        states.append(torch.load(tmp_path / name / "last.ckpt", weights_only=True)["state_dict"])
    for key, tensor in states[0].items():
        torch.testing.assert_close(states[1][key], tensor, rtol=CLOSE, atol=CLOSE)
    assert read(tmp_path / "one").error == pytest.approx(read(tmp_path / "two").error, abs=1.0)


def test_the_engine_is_no_part_of_a_recipe_and_the_backbone_is() -> None:
    plain, torch_only, none = (
        recipe_digest(composed(*words))
        for words in (TINY_BACKBONE, (*TINY_BACKBONE, "backbone.engine=auto"), ("backbone=none",))
    )
    assert plain == torch_only != none
    assert none == recipe_digest(composed())


def test_a_run_whose_file_was_moved_or_replaced_says_to_put_it_back(tmp_path: Path) -> None:
    torch.manual_seed(0)
    file, moved, name = tmp_path / "weights.pth", tmp_path / "moved.pth", "shufflenet_v2_x0_5"
    torch.save(models.get_model(name).state_dict(), file)
    words = ("backbone=torchvision", f"backbone.name={name}", f"backbone.weights={file}", "backbone.size=32")
    config = composed(*words, *TINY, "backbone.engine=torch", "backbone.views=1", "num_labels=20", "pictures=false")
    train(config, tmp_path / "run")
    file.rename(moved)
    build_one.cache_clear()  # as in another process
    gone = rf"was trained with backbone\.weights={file}, which is not there any more; put the file back at that path"
    with pytest.raises(ConfigError, match=rf"^run={tmp_path / 'run'} {gone}"):
        read_parts(tmp_path / "run", trust=False)
    config.resume = str(tmp_path / "run")
    with pytest.raises(ConfigError, match=rf"^resume={tmp_path / 'run'} {gone}"):
        train(config, tmp_path / "run")
    torch.save(models.get_model(name).state_dict(), file)
    back = rf"put the file back that it was trained with \({file}\), or"
    with pytest.raises(ConfigError, match=rf"than are found here; {back} train again\.$"):
        read_parts(tmp_path / "run", trust=False)
    with pytest.raises(ConfigError, match=rf"than this run began with; {back} start a new run\.$"):
        check_backbones(read(tmp_path / "run"), config)
