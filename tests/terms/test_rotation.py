import pytest

from smoothpl.errors import ConfigError
from smoothpl.run.build_method import build_method
from tests.support.composing import composed


@pytest.mark.parametrize(("words", "missing"), [("views_wanted=[mix]", "turn"), ("extra_heads=[]", "rotation")])
def test_it_needs_turns_and_a_head_that_tells_them(words: str, missing: str) -> None:
    with pytest.raises(ConfigError, match=f"terms.rotation needs {missing}"):
        build_method(composed("method=remixmatch", words))
