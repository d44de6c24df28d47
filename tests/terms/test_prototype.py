"""Its rule is in tests/pseudo/test_prototypes.py, with that of the memory it needs."""

import pytest

from smoothpl.errors import ConfigError
from smoothpl.run.build_method import build_method
from smoothpl.terms import Prototype
from tests.support.composing import composed


def test_it_needs_the_memory_of_its_prototypes_and_a_head() -> None:
    assert Prototype().needs == {"projection", "prototypes"}
    with pytest.raises(ConfigError, match=r"terms.prototype needs prototypes"):
        build_method(composed("method=fixmatch", "extra_heads=[projection]", "terms=[prototype]"))
