from io import StringIO
from pathlib import Path

import pytest
import torch
from rich.console import Console
from torch import Tensor, nn

from smoothpl.errors import DivergenceError
from smoothpl.record.checkpoints import found
from smoothpl.record.record import Record, read
from smoothpl.results.summary import summarise
from smoothpl.run.build import build_data, build_module, build_trainer
from smoothpl.run.quiet import quiet_libraries
from smoothpl.run.training import train
from tests.support.composing import TINY, composed, options


def run(run_dir: Path, *overrides: str) -> tuple[Record, dict[str, Tensor]]:
    record = train(composed(*TINY, *overrides), run_dir, "test")
    return record, torch.load(run_dir / "last.ckpt", weights_only=True)["state_dict"]


def printed(record: Record) -> str:
    console = Console(file=StringIO(), width=80)
    console.print(summarise(record))
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize("method", options("method"))
def test_a_run_leaves_a_record_a_checkpoint_and_curves(tmp_path: Path, method: str) -> None:
    record, state = run(tmp_path, f"method={method}")
    assert read(tmp_path) == record
    assert record.status == "finished"
    assert record.error is not None
    assert 0 <= record.error <= 100
    assert [evaluation.step for evaluation in record.history] == [2, 4]
    assert any(name.startswith("average.") for name in state)
    header, *rows = (tmp_path / "logs" / "metrics.csv").read_text().splitlines()
    assert "train/loss" in header
    assert "val/error" in header
    steps = [int(row.split(",")[header.split(",").index("step")]) for row in rows]
    assert steps.count(3) in (2, 3)  # the last step: once its losses, once its error, once its purity if any
    assert max(steps) == 3


def test_the_same_seed_gives_the_same_bits_and_another_seed_the_same_labeled_images(tmp_path: Path) -> None:
    first, weights = run(tmp_path / "1", "seed=0")
    torch.rand(3)  # whatever ran before
    second, same_weights = run(tmp_path / "2", "seed=0")
    third, other_weights = run(tmp_path / "3", "seed=1")
    assert all(torch.equal(weights[name], same_weights[name]) for name in weights)
    assert first.history == second.history
    assert first.metrics == second.metrics
    assert not torch.equal(weights["network.stem.weight"], other_weights["network.stem.weight"])
    assert first.labeled == second.labeled == third.labeled


def test_another_fold_starts_from_the_same_weights_with_other_labels(tmp_path: Path) -> None:
    one, _ = run(tmp_path / "0", "fold=0", "max_steps=1", "optim.learning_rate=0")
    other, _ = run(tmp_path / "1", "fold=1", "max_steps=1", "optim.learning_rate=0")
    assert one.labeled != other.labeled
    weights = [torch.load(tmp_path / str(fold) / "last.ckpt", weights_only=True)["state_dict"] for fold in (0, 1)]
    assert torch.equal(weights[0]["network.stem.weight"], weights[1]["network.stem.weight"])


def test_an_automatic_unlabeled_weight_is_measured_used_and_recorded(tmp_path: Path) -> None:
    knobs = ("max_steps=60", "batch_size=8", "threshold=0.5", "log_every=10", "eval_every=60")
    measured, weights = run(tmp_path / "auto", *knobs, "unlabeled_weight=auto")
    weight = measured.equilibrium["unlabeled_weight"]
    assert weight is not None
    assert weight > 0
    given, same_weights = run(tmp_path / "given", *knobs, f"unlabeled_weight={weight!r}")
    assert given.equilibrium == {}
    assert all(torch.equal(weights[name], same_weights[name]) for name in weights)
    assert measured.config["unlabeled_weight"] == "auto"
    assert "as measured before the run" in printed(measured)


def test_alignment_to_labels_that_a_class_has_none_of_is_refused_before_the_first_step(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="align=labeled"):
        run(tmp_path, "method=adamatch", "split=random", "num_labels=10")
    assert read(tmp_path).history == []


def test_a_look_before_the_first_step_changes_nothing(tmp_path: Path) -> None:
    plain, weights = run(tmp_path / "plain")
    looked, same_weights = run(tmp_path / "looked", "trainer.num_sanity_val_steps=1")
    assert all(torch.equal(weights[name], same_weights[name]) for name in weights)
    assert looked.history == plain.history


@pytest.mark.filterwarnings("ignore:Found .* in eval mode")
def test_accumulated_gradients_are_those_of_the_whole_step(tmp_path: Path) -> None:
    """But for BatchNorm, which sees each part alone, and is held still here."""
    quiet_libraries()
    states = []
    for parts in (1, 2):
        config = composed(*TINY, "method=smooth", "threshold=0.12", f"accumulate={parts}", "logger=none")
        torch.manual_seed(0)
        module = build_module(config)
        for norm in module.network.modules():
            if isinstance(norm, nn.BatchNorm2d):
                norm.eval().train = lambda mode=True, norm=norm: norm  # type: ignore[method-assign, misc]
        trainer = build_trainer(config, tmp_path)
        trainer.fit(module, datamodule=build_data(config))
        assert trainer.global_step == 4
        states.append(module.network.state_dict())
    for name, value in states[0].items():
        torch.testing.assert_close(states[1][name], value, rtol=1e-4, atol=1e-5)


def test_the_last_step_is_evaluated_also_when_no_evaluation_falls_on_it(tmp_path: Path) -> None:
    record, _ = run(tmp_path, "max_steps=5", "eval_every=100")
    assert [evaluation.step for evaluation in record.history] == [5]


def test_a_run_that_fails_leaves_a_record_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="num_labels=4000"):
        run(tmp_path, "num_labels=4000")
    assert read(tmp_path).status == "failed"
    assert "num_labels=4000" in str(read(tmp_path).failure)


@pytest.mark.parametrize("checkpoint_every", [1, 100])
def test_a_run_that_diverges_stops_and_names_the_step_the_terms_and_the_last_good_checkpoint(
    tmp_path: Path, checkpoint_every: int
) -> None:
    knobs = ("optim.learning_rate=1e8", "max_steps=60", "eval_every=60", f"checkpoint_every={checkpoint_every}")
    with pytest.raises(DivergenceError, match=r"diverged by step \d+: loss .*labeled_loss .*learning_rate") as caught:
        run(tmp_path, *knobs)
    good = found(tmp_path / "checkpoints")
    assert f"The last good checkpoint: {good[0].path if checkpoint_every == 1 else 'none'}." in str(caught.value)
    for each in good:
        state = torch.load(each.path, weights_only=True)["state_dict"]
        assert all(torch.isfinite(value).all() for value in state.values())
    record = read(tmp_path)
    assert record.status == "failed"
    assert "diverged" in str(record.failure)


def test_the_default_run_reaches_the_promised_error(tmp_path: Path) -> None:
    """Smooth FixMatch, 40 labels, fold 0: at most 5 %, as the README says."""
    record = train(composed("callbacks.progress=null", "logger=none"), tmp_path, "default")
    assert record.error is not None
    assert record.error <= 5
    assert record.collapsed == []
    coverage = record.metrics["train/coverage"]
    assert coverage is not None
    assert coverage > 0.8
