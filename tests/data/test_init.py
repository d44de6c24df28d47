import subprocess
import sys

import pytest
from hydra.utils import get_class, get_method

import smoothpl.data
from smoothpl.data.module import SemiSupervisedData


@pytest.mark.parametrize("module", ["smoothpl.data", "smoothpl.inference.classifier"])
def test_data_and_trained_networks_are_used_without_lightning(module: str) -> None:
    code = f"import sys, {module}; print([each for each in sys.modules if each.split('.')[0] == 'lightning'])"
    done = subprocess.run([sys.executable, "-c", code], check=True, timeout=120, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_the_data_module_is_there_when_it_is_asked_for() -> None:
    assert smoothpl.data.SemiSupervisedData is get_class("smoothpl.data.SemiSupervisedData") is SemiSupervisedData
    assert get_method("smoothpl.data.digits") is smoothpl.data.digits
    assert all(hasattr(smoothpl.data, name) for name in smoothpl.data.__all__)


def test_what_is_not_there_is_not_there() -> None:
    with pytest.raises(AttributeError, match=r"module 'smoothpl\.data' has no attribute 'Nothing'"):
        smoothpl.data.Nothing  # noqa: B018
