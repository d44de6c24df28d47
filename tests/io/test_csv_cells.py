import pytest

from smoothpl.io.csv_cells import guarded, unguarded


@pytest.mark.parametrize("text", ["=1+1", "+x", "-x", "@x", "\tx", "\rx", "'x", "'=x", "", "plain", "a=b"])
def test_what_is_guarded_comes_back(text: str) -> None:
    assert unguarded(guarded(text)) == text
    assert not guarded(text).startswith(("=", "+", "-", "@", "\t", "\r"))
