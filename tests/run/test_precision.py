import faulthandler
import os
import signal

import pytest
import torch

from smoothpl.errors import ConfigError
from smoothpl.run import precision as machine
from smoothpl.run.precision import check_accelerator, check_precision, gpu_computes_in_bfloat16, is_on_gpu


def stopped() -> None:
    faulthandler.disable()
    os.kill(os.getpid(), signal.SIGILL)


def test_what_a_cpu_cannot_do_is_refused_before_training(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"trainer.precision=16-mixed needs a GPU; on a CPU use 32-true or bf16"):
        check_precision("16-mixed", "cpu")
    monkeypatch.setattr(machine, "multiply_in_bfloat16", stopped)
    with pytest.raises(ConfigError, match=r"says that it can .*exit code -4.* use trainer.precision=32-true"):
        check_precision("bf16-mixed", "cpu")


def test_what_is_found_before_a_run_cannot_stand_in_a_yaml() -> None:
    with pytest.raises(ConfigError, match=r"trainer\.precision=auto is found before a run .* type it, or trainer=fast"):
        check_precision("auto", "cpu")


def test_what_works_is_let_through(monkeypatch: pytest.MonkeyPatch) -> None:
    check_precision("32-true", "cpu")
    check_precision("16-mixed", "gpu")
    monkeypatch.setattr(machine, "multiply_in_bfloat16", lambda: None)
    check_precision("bf16-mixed", "cpu")


def test_a_precision_that_nobody_knows_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ConfigError, match=r"trainer\.precision=8bit must be one of auto, 64-true, 32-true"):
        check_precision("8bit", "cpu")


@pytest.mark.skipif(torch.accelerator.is_available(), reason="there is a GPU")
@pytest.mark.parametrize("name", ["gpu", "cuda", "mps"])
def test_an_accelerator_that_is_not_there_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"trainer\.accelerator={name}: this machine has no "):
        check_accelerator(name)


def test_an_accelerator_that_nobody_knows_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ConfigError, match=r"trainer\.accelerator=fast must be one of auto, gpu, cpu, cuda"):
        check_accelerator("fast")
    check_accelerator("auto")
    check_accelerator("cpu")


def test_a_gpu_is_asked_what_it_computes_in(monkeypatch: pytest.MonkeyPatch) -> None:
    for has_gpu, has_bfloat16 in ((True, True), (True, False), (False, True)):
        monkeypatch.setattr(torch.cuda, "is_available", lambda has_gpu=has_gpu: has_gpu)
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda has=has_bfloat16, **_: has)
        assert gpu_computes_in_bfloat16() == (has_gpu and has_bfloat16)
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    assert [is_on_gpu(name) for name in ("auto", "gpu", "cpu")] == [True, True, False]
