import faulthandler
import os
import signal
from pathlib import Path

import pytest
import torch
from omegaconf import DictConfig
from torch import Tensor, nn

from smoothpl.run import bfloat16
from smoothpl.run.bfloat16 import Times, compare, flags, may_have_it, measure
from smoothpl.run.build import build_module
from smoothpl.run.step_time import BESIDE_NETWORK
from smoothpl.run.trial import TrialError
from tests.support.composing import composed

SMALL = ("batch_size=1", "unlabeled_ratio=1")
OF_INTEL = "processor\t: 0\nmodel name\t: Xeon\nflags\t\t: fpu avx2 avx512f {}\nbugs\t\t: spectre_v1\n"
OF_ARM = "processor\t: 0\nFeatures\t: fp asimd {} i8mm\n"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("text", "has_it"),
    [
        (OF_INTEL.format("avx512_bf16"), True),
        (OF_INTEL.format("amx_bf16 amx_tile"), True),
        (OF_INTEL.format("avx512_vnni amx_int8"), False),
        (OF_ARM.format("bf16"), True),
        (OF_ARM.format("svebf16"), False),
        ("processor: 0\n", True),  # nothing is said of it: it is tried
    ],
)
def test_a_processor_says_whether_it_has_bfloat16(
    text: str, has_it: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpuinfo").write_text(text)
    monkeypatch.setattr(bfloat16, "CPUS", tmp_path / "cpuinfo")
    assert may_have_it() == has_it


def test_where_nothing_is_said_it_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bfloat16, "CPUS", tmp_path / "nowhere")
    assert flags() is None
    assert may_have_it()


def test_the_gain_is_that_of_a_whole_step() -> None:
    assert Times(exact=2.0, half=1.0).gain == pytest.approx(2, rel=0.01)
    assert Times(exact=BESIDE_NETWORK, half=0).gain == 2  # half of a step that is half loop


def test_both_precisions_are_timed_by_real_steps() -> None:
    config = composed(*SMALL)
    seen: list[torch.dtype] = []
    network = build_module(config).network
    network.register_forward_hook(lambda _, __, logits: seen.append(logits.dtype))
    exact, half = measure(config, network)
    assert exact > 0
    assert half > 0
    assert {*seen} == {torch.float32, torch.bfloat16}
    assert config.trainer.precision == "32-true"


def test_what_was_measured_is_remembered_for_this_network(monkeypatch: pytest.MonkeyPatch) -> None:
    config, network = composed(*SMALL), build_module(composed(*SMALL)).network
    assert compare(config, network).half > 0
    monkeypatch.setattr(bfloat16, "measure", lambda *_: [3.0, 1.0])
    assert compare(config, network) != (3, 1)
    assert compare(composed("batch_size=2"), network) == (3, 1)


class Stopping(nn.Module):
    """What some machines do, which say that they have bfloat16."""

    def __init__(self) -> None:
        super().__init__()
        self.classify = nn.Linear(64, 10)

    def forward(self, images: Tensor) -> Tensor:
        logits: Tensor = self.classify(images.flatten(1))
        if logits.dtype == torch.bfloat16:
            faulthandler.disable()
            os.kill(os.getpid(), signal.SIGILL)
        return logits


class Refusing(Stopping):
    def forward(self, images: Tensor) -> Tensor:
        if torch.is_autocast_enabled("cpu"):
            raise NotImplementedError("not implemented for 'BFloat16'")
        return super().forward(images)


@pytest.mark.parametrize(("network", "reason"), [(Stopping(), "exit code -4"), (Refusing(), "for 'BFloat16'")])
def test_what_cannot_be_done_stops_the_trial_and_is_not_remembered(
    network: nn.Module, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config: DictConfig = composed(*SMALL)
    with pytest.raises(TrialError, match=reason):
        compare(config, network)
    monkeypatch.setattr(bfloat16, "measure", lambda *_: [3.0, 1.0])
    assert compare(config, network) == (3, 1)
