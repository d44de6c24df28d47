"""smoothpl in somebody else's program: the examples of docs/library.md are run as they stand."""

import re
from pathlib import Path
from typing import Any

import pytest

from smoothpl.run.training import train
from tests.support.composing import TINY, composed
from tests.support.own import save

LIBRARY = Path(__file__).parents[1] / "docs" / "library.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", LIBRARY.read_text(), flags=re.DOTALL)


def test_the_example_of_the_documentation_runs_and_learns() -> None:
    code, _ = EXAMPLES
    loop = code[code.index("for step") :]
    assert len(loop.splitlines()) <= 15
    scope: dict[str, Any] = {}
    exec(compile(code, "docs/library.md", "exec"), scope)
    assert scope["losses"][-1] < scope["losses"][0] / 2


def test_the_example_of_a_trained_network_names_classes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    train(composed(*TINY), tmp_path / "runs" / "first")
    save(tmp_path / "photos" / "0007.png", 7)
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    exec(compile(EXAMPLES[1], "docs/library.md", "exec"), {})
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == 3
    assert all(re.fullmatch(r"\d [01]\.\d\d", line) for line in shown)
