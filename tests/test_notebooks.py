"""Every notebook is stripped, and runs from its first cell to its last."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from smoothpl.metrics.collapse import Turn
from smoothpl.record.record import Evaluation
from tests.support.made_up import made_up, store, store_all

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = store_all(tmp_path_factory.mktemp("runs"))
    record = made_up("smooth", 7, 9.0, turns=[Turn(1000, 3, "collapsed", 0.1)])
    record.take_history([Evaluation(step, 9.0, [], [1.0] * 10) for step in (500, 1000)])
    store(folder, record)
    return folder


def test_there_are_notebooks() -> None:
    assert {path.stem for path in NOTEBOOKS} == {"collapse", "quickstart", "shapes", "sweep"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore")  # of Jupyter itself
def test_a_notebook_runs(path: Path, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
    monkeypatch.setenv("SMOOTHPL_RUNS", str(runs))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute(cwd=str(runs))
    assert all(cell.execution_count for cell in code)
