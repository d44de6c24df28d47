from pathlib import Path
from typing import Any

import pytest
import torch
from omegaconf import DictConfig
from torch import nn

from smoothpl.config.checks import check
from smoothpl.config.overrides import CommandLine
from smoothpl.config.recipe import recipe_digest
from smoothpl.errors import ConfigError
from smoothpl.record.record import new_record, read, write
from smoothpl.run import bfloat16, precision
from smoothpl.run.bfloat16 import Times
from smoothpl.run.build_method import build_method
from smoothpl.run.command_line import complete
from smoothpl.run.fast import pick_forward, settled
from smoothpl.run.trial import TrialError
from tests.support.composing import SMALL, composed, options
from tests.support.method_steps import module_and_batches
from tests.support.own import two_digits
from tests.support.processes import Process

BF16, EXACT = "trainer.precision=bf16-mixed", "trainer.precision=32-true"
QUICK, SLOW = Times(exact=2.0, half=1.0), Times(exact=2.0, half=1.9)


@pytest.fixture(autouse=True)
def a_processor_with_bfloat16(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bfloat16, "may_have_it", lambda: True)
    monkeypatch.setattr(precision, "is_on_gpu", lambda _: False)
    gains(monkeypatch, QUICK)


def gains(monkeypatch: pytest.MonkeyPatch, times: Times) -> None:
    monkeypatch.setattr(bfloat16, "compare", lambda *_: times)


def words(*typed: str) -> list[str]:
    return [*settled(CommandLine.parse(typed)).words]


def test_other_command_lines_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bfloat16, "compare", None)
    for typed in (
        ["fold=1"],
        ["trainer=ddp"],
        [BF16],
        ["trainer=default,ddp"],
        ["trainer=fast", EXACT, "forward=joint"],
    ):
        assert words(*typed) == typed


def test_fast_stands_for_a_precision_and_a_forward_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert words("trainer=fast", "fold=1") == ["trainer=fast", "fold=1", BF16, "forward=split"]
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith(f"trainer=fast: {BF16} (a step takes 1 s of a core in bfloat16, 2 s in 32 bits; ")
    assert (
        "forward=split (weak views without gradient, a third less work; BatchNorm sees them apart, which is anot"
        in said
    )


def test_auto_stands_for_a_precision_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert words("trainer.precision=auto", "fold=1") == ["fold=1", BF16]
    assert capsys.readouterr().err.startswith(f"trainer.precision=auto: {BF16} (")


def test_what_it_stands_for_is_the_recipe_that_could_be_typed() -> None:
    typed = composed(BF16, "forward=split")
    assert recipe_digest(composed(*words("trainer=fast"))) == recipe_digest(typed)
    assert recipe_digest(typed) != recipe_digest(composed())


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        (EXACT, ["forward=split"]),
        ("forward=joint", [BF16]),
        ("forward=apart", [BF16]),
    ],
)
def test_what_was_typed_wins(typed: str, found: list[str]) -> None:
    assert words("trainer=fast", typed) == ["trainer=fast", typed, *found]


def test_too_little_is_not_worth_other_bits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gains(monkeypatch, SLOW)
    assert words("trainer=fast") == ["trainer=fast", EXACT, "forward=split"]
    assert f"{EXACT} (a step takes 1.9 s of a core in bfloat16, 2 s in 32 bits)" in capsys.readouterr().err


def test_a_processor_without_instructions_for_it_is_not_tried(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bfloat16, "may_have_it", lambda: False)
    monkeypatch.setattr(bfloat16, "compare", None)
    assert words("trainer.precision=auto") == [EXACT]
    assert "no instructions for bfloat16, neither avx512_bf16 nor AMX" in capsys.readouterr().err


def test_one_that_says_so_and_stops_computes_in_32_bits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: Any) -> None:
        raise TrialError("it stopped (exit code -4)")

    monkeypatch.setattr(bfloat16, "compare", stop)
    assert words("trainer.precision=auto") == [EXACT]
    assert f"{EXACT} (bfloat16 was tried, and it stopped (exit code -4))" in capsys.readouterr().err


@pytest.mark.parametrize(("has_it", "found"), [(True, BF16), (False, EXACT)])
def test_a_gpu_is_asked_and_not_timed(has_it: bool, found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bfloat16, "compare", None)
    monkeypatch.setattr(precision, "is_on_gpu", lambda _: True)
    monkeypatch.setattr(precision, "gpu_computes_in_bfloat16", lambda: has_it)
    assert words("trainer=fast") == ["trainer=fast", found, "forward=split"]


@pytest.mark.parametrize(
    ("typed", "forward", "reason"),
    [
        (["method=pseudo_label"], "joint", "learned_view=weak learns from it"),
        (["method=supervised"], "joint", "method=supervised has no weak views"),
        (["method=mixmatch"], "apart", "method=mixmatch has forward=apart"),
        (["factor_weight=0.1"], "joint", "which factor_weight=0.1 needs"),
        (["method=flatmatch"], "joint", "forward=split leaves the weak view out of what labels are learned with"),
    ],
)
def test_a_method_whose_weak_views_learn_keeps_its_forward(
    typed: list[str], forward: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = words("trainer=fast", *typed)
    assert found[-2:] == [BF16, f"forward={forward}"]
    assert reason in capsys.readouterr().err
    composed_again = composed(*found)
    assert composed_again.forward == forward


@pytest.mark.parametrize("method", options("method"))
def test_the_forward_that_is_picked_for_a_method_is_one_that_it_can_have(method: str) -> None:
    picked = pick_forward([composed(f"method={method}")], nn.Identity()).value
    config = composed(f"method={method}", f"forward={picked}")
    check(config)
    build_method(config)


def test_all_runs_of_a_sweep_compute_alike(capsys: pytest.CaptureFixture[str]) -> None:
    assert words("method=smooth,fixmatch", "trainer=fast", "fold=0,1")[-2:] == [BF16, "forward=split"]
    assert words("method=smooth,pseudo_label", "trainer=fast")[-2:] == [BF16, "forward=joint"]
    capsys.readouterr()
    assert words("method=smooth,mixmatch", "trainer=fast")[-1] == BF16
    assert "forward=as it is (method=mixmatch has forward=apart)" in capsys.readouterr().err
    assert words("experiment=cifar10_40", "benchmark=digits_40", "trainer=fast")[-1] == "forward=split"


def test_without_batch_norm_the_algorithm_is_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """A head on features has none; and it stays in 32 bits."""
    assert words("trainer=fast", *SMALL, "net=mlp")[-2:] == [EXACT, "forward=split"]
    assert "another algorithm" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "message"),
    {
        "trainer=default,fast": r"trainer=default,fast: what trainer=fast stands for is found once for all runs of a "
        r"sweep; name it, for example trainer\.precision=32-true,bf16-mixed",
        "trainer.precision=auto,32-true": r"what trainer\.precision=auto stands for is found once",
        "trainer=ddp trainer.precision=auto": r"found by one process; with trainer=ddp name it",
        "trainer=fast trainer.accelerator=quick": r"trainer\.accelerator=quick must be one of auto, gpu, cpu",
        "trainer=fast threshold=2": r"threshold=2\.0 must lie strictly between 0 and 1",
    }.items(),
)
def test_what_cannot_be_found_is_refused_with_the_way_out(typed: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        words(*typed.split())


def test_a_resumed_run_repeats_what_was_picked_and_asks_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    typed = words("trainer=fast", "fold=1")
    write(tmp_path, new_record(composed(*typed), "name", typed))
    monkeypatch.setattr(bfloat16, "compare", None)
    assert [*complete(CommandLine.parse([f"resume={tmp_path}"])).line.words][:-1] == typed


def test_a_folder_of_ones_own_is_timed_with_what_was_chosen_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    timed: list[int] = []

    def compare(config: DictConfig, _: nn.Module) -> Times:
        timed.append(config.data.size)
        return QUICK

    monkeypatch.setattr(bfloat16, "compare", compare)
    root = two_digits(tmp_path / "own")
    line = complete(CommandLine.parse(["data=folder", f"data.root={root}", "backbone=none", "trainer=fast"])).line
    assert [*line.words][-2:] == [BF16, "forward=split"]
    assert timed == [8]
    monkeypatch.setattr("smoothpl.run.command_line.fit", lambda *_: (0, {"max_steps": 70}))
    again = ["data=folder", f"data.root={root}", "backbone=none", "trainer=fast", "minutes=1"]
    found = {*complete(CommandLine.parse(again)).line.words}
    assert {BF16, "forward=split", "max_steps=70"} <= found


def test_a_run_records_what_it_computed_with_and_can_be_resumed(tmp_path: Path) -> None:
    """On this machine as it is."""
    kept = ("max_steps=2", "batch_size=2", "pictures=false", "hydra.run.dir=run", "callbacks.progress=null")
    first = Process("smoothpl.train", "trainer=fast", *kept, cwd=tmp_path, XDG_CACHE_HOME=str(tmp_path)).wait()
    assert first.returncode == 0, first.stderr
    record = read(tmp_path / "run")
    picked = f"trainer.precision={record.config['trainer']['precision']}"
    assert picked in (BF16, EXACT)
    assert {picked, "trainer=fast", "forward=split"} <= {*record.overrides}
    assert picked in first.stderr
    again = Process("smoothpl.train", "resume=run", cwd=tmp_path, XDG_CACHE_HOME=str(tmp_path)).wait()
    assert again.returncode == 0, again.stderr
    assert "trainer=fast:" not in again.stderr
    assert read(tmp_path / "run") == record


@pytest.mark.parametrize("method", [name for name in options("method") if "supervised" not in name])
def test_probabilities_weights_and_losses_stay_in_32_bits(method: str) -> None:
    module, batches = module_and_batches(f"method={method}", BF16)
    assert module.weighting is not None
    seen: list[torch.dtype] = []
    layer = next(each for each in module.network.modules() if isinstance(each, nn.Conv2d))
    layer.register_forward_hook(lambda _, __, output: seen.append(output.dtype))
    with torch.autocast("cpu", torch.bfloat16):
        learned = module.learn_from_all(next(batches), module.weighting)
    learned["loss"].backward()  # type: ignore[no-untyped-call]
    assert torch.bfloat16 in seen
    for name in ("loss", "labeled_loss", "weight", "confidence", "confidence_mean"):
        assert learned[name].dtype == torch.float32, name
    slopes = [each.grad for each in module.network.parameters() if each.grad is not None]
    assert slopes
    assert all(each.dtype == torch.float32 and bool(each.isfinite().all()) for each in slopes)
