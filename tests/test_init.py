import subprocess
import sys
from pathlib import Path

import pytest

import smoothpl
from smoothpl import losses, pseudo


def test_every_public_name_is_there_and_listed() -> None:
    assert {*smoothpl.__all__} == {"load", "factor_loss", "labeled_loss", "unlabeled_loss", *pseudo.__all__}
    assert {*smoothpl.__all__} <= {*dir(smoothpl)}
    assert smoothpl.__all__ == sorted(smoothpl.__all__)
    for name in smoothpl.__all__:
        assert hasattr(smoothpl, name)


def test_a_name_is_the_same_object_as_in_its_own_module() -> None:
    assert smoothpl.Power is pseudo.Power
    assert smoothpl.unlabeled_loss is losses.unlabeled_loss


def test_any_other_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'smoothpl' has no attribute 'Nothing'"):
        smoothpl.Nothing  # noqa: B018


def test_importing_the_package_and_listing_its_names_does_not_import_torch() -> None:
    program = "import sys, smoothpl\ndir(smoothpl)\nassert not {'torch', 'numpy', 'hydra'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_everything_can_be_imported_with_a_star() -> None:
    scope: dict[str, object] = {}
    exec("from smoothpl import *", scope)
    assert {*smoothpl.__all__} <= {*scope}


def test_type_checkers_may_rely_on_its_annotations() -> None:
    assert (Path(smoothpl.__file__).parent / "py.typed").is_file()
