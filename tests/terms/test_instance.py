import pytest

from smoothpl.errors import ConfigError
from smoothpl.run.build_method import build_method
from tests.support.composing import composed


def test_it_cannot_do_without_its_bank() -> None:
    with pytest.raises(ConfigError, match=r"terms.instance needs labeled_bank, .* to refine \(a memory\)"):
        build_method(composed("method=simmatch", "refine=[]"))
