import ast
from pathlib import Path

import pytest

from smoothpl import layout
from smoothpl.run.training import train
from tests.support.composing import TINY, composed

PACKAGE = Path(layout.__file__).parent
NAMES = {name: value for name, value in vars(layout).items() if name.isupper()}
TELLING = [value for value in NAMES.values() if "." in value and value != layout.LOCK]
"""Those that mean nothing else, wherever they stand."""


@pytest.mark.parametrize("name", TELLING)
def test_a_file_name_stands_in_one_place(name: str) -> None:
    """Docstrings, comments and pages of help may name it."""
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text())
        texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        assert path.name == "layout.py" or name not in texts, path


def test_a_run_leaves_nothing_but_what_the_layout_names(tmp_path: Path) -> None:
    train(composed(*TINY, "pictures=true"), tmp_path / "run")
    left = {part for path in (tmp_path / "run").rglob("*") for part in path.relative_to(tmp_path / "run").parts}
    assert {layout.RECORD, layout.LAST_CHECKPOINT, layout.LOGS, layout.CURVES, layout.PHOTOGRAPHS} <= left
    assert left <= {*NAMES.values()}
