"""smoothpl in somebody else's training loop: the example of docs/library.md is run as it stands."""

import re
from pathlib import Path
from typing import Any

import pytest

import smoothpl

EXAMPLE = re.compile(r"```python\n(.*?)```", re.DOTALL)


def test_the_example_of_the_documentation_runs_and_learns() -> None:
    (code,) = EXAMPLE.findall((Path(__file__).parents[1] / "docs" / "library.md").read_text())
    loop = code[code.index("for step") :]
    assert len(loop.splitlines()) <= 15
    scope: dict[str, Any] = {}
    exec(compile(code, "docs/library.md", "exec"), scope)
    assert scope["losses"][-1] < scope["losses"][0] / 2


@pytest.mark.parametrize("name", ["Weighting", "Power", "Fixed", "Curriculum", "pseudo_labels", "unlabeled_loss"])
def test_the_parts_of_a_method_are_at_the_top(name: str) -> None:
    assert getattr(smoothpl, name).__name__ == name


def test_what_is_not_there_is_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'smoothpl' has no attribute 'Nothing'"):
        smoothpl.Nothing  # noqa: B018
