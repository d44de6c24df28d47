"""Imports point downwards: what lies above is not known below. Lazy imports and those for types count, too."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "smoothpl"
LAYERS = [
    {"errors", "layout", "ranks"},
    {"io"},
    {"config"},
    {"cli"},
    {"metrics", "pseudo", "losses", "optim", "nets", "data", "backbones"},
    {"terms"},
    {"record"},
    {"plots"},
    {"module"},
    {"loggers"},
    {"callbacks"},
    {"results", "inference"},
    {"paper"},
    {"run"},
    {"commands", "train"},
]
"""From the ground up. A room imports those below it, and rooms of its own layer only where no circle comes of it."""
PUBLIC = ("__init__", "__main__")
"""The doors of the package, which lead anywhere; nothing leads to them."""
FILES = sorted(PACKAGE.rglob("*.py"))
MODULES = {".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path for path in FILES}


def imported(path: Path) -> Iterator[str]:
    """The modules of smoothpl that a file imports, wherever in it, without the package's name."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            inner = [f"{node.module}.{name}" for name in names]
            names = [name if name.removeprefix("smoothpl.") in MODULES else node.module for name in inner]
        yield from (name.removeprefix("smoothpl.") for name in names if name.startswith("smoothpl."))


def room(module: str) -> str:
    return module.partition(".")[0]


def height(module: str) -> int:
    return next(number for number, layer in enumerate(LAYERS) if room(module) in layer)


INNER = {module: sorted({*imported(path)}) for module, path in MODULES.items() if module not in PUBLIC}


def test_every_room_has_its_layer() -> None:
    assert {room(module) for module in INNER} == set.union(*LAYERS)


@pytest.mark.parametrize("module", INNER)
def test_imports_point_downwards(module: str) -> None:
    above = [other for other in INNER[module] if height(other) > height(module)]
    assert not above, f"smoothpl.{module} imports {', '.join(above)}"


def test_nothing_imports_a_command() -> None:
    users = [(module, other) for module, others in INNER.items() for other in others]
    assert [pair for pair in users if room(pair[1]) in ("commands", "train")] == []


def test_what_reads_records_and_what_uses_a_trained_run_knows_nothing_of_training() -> None:
    for module, others in INNER.items():
        if room(module) in ("results", "inference"):
            assert not {"run", "callbacks", "loggers"} & {*map(room, others)}, module


def test_the_import_graph_has_no_cycle_of_modules_nor_of_rooms() -> None:
    rooms = {
        name: {room(other) for m in INNER if room(m) == name for other in INNER[m]} - {name}
        for name in map(room, INNER)
    }
    for graph in ({module: {*others} - {module} for module, others in INNER.items()}, rooms):
        left = dict(graph)
        while free := [name for name, others in left.items() if not others & left.keys()]:
            for name in free:
                del left[name]
        assert not left, f"a cycle among {', '.join(sorted(left))}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_file_is_read_in_one_go(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 250
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 40, f"{node.name} is longer than 40 lines"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_file_has_its_test_file(path: Path) -> None:
    """smoothpl/a/b.py is tested by tests/a/test_b.py; the __init__.py of a room where it does something."""
    inner = path.relative_to(PACKAGE)
    if path.name != "__init__.py":
        name = path.stem.strip("_")
        assert (Path(__file__).parent / inner.parent / f"test_{name}.py").is_file()
