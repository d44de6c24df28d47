import os
import signal

import pytest

from smoothpl.errors import ConfigError
from smoothpl.run import precision as machine
from smoothpl.run.precision import check_precision


def stopped() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_what_a_cpu_cannot_do_is_refused_before_training(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"trainer.precision=16-mixed needs a GPU; on a CPU use 32-true or bf16"):
        check_precision("16-mixed", "cpu")
    monkeypatch.setattr(machine, "multiply_in_bfloat16", stopped)
    with pytest.raises(ConfigError, match=r"says that it can .*exit code -9.* use trainer.precision=32-true"):
        check_precision("bf16-mixed", "cpu")


def test_what_works_is_let_through(monkeypatch: pytest.MonkeyPatch) -> None:
    check_precision("32-true", "cpu")
    check_precision("16-mixed", "gpu")
    monkeypatch.setattr(machine, "multiply_in_bfloat16", lambda: None)
    check_precision("bf16-mixed", "cpu")
