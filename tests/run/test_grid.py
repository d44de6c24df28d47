import csv
import re
from pathlib import Path

import pytest

from smoothpl.config.knobs import conf_dir
from smoothpl.paper import FOLDER
from smoothpl.record.record import new_record, write
from smoothpl.run.grid import Job, list_jobs
from smoothpl.run.hydra_sweeper import expand
from tests.support.composing import composed, options
from tests.support.own import two_digits
from tests.support.processes import Process


def rows_of_paper(table: str) -> list[dict[str, str]]:
    with (FOLDER / "errors.csv").open() as file:
        return [row for row in csv.DictReader(file) if row["table"] == table]


@pytest.mark.parametrize("experiment", options("experiment"))
def test_every_experiment_has_as_many_runs_as_its_header_says(experiment: str) -> None:
    header = (conf_dir() / "experiment" / f"{experiment}.yaml").read_text().split("defaults:")[0]
    (number,) = re.findall(r"(\d+)\s+runs\b", header.replace("\n#", ""))
    assert len(expand([f"experiment={experiment}"])) == int(number)


@pytest.mark.parametrize(
    ("experiment", "table", "knobs"),
    [
        ("cifar10_40", "folds", ("method", "fold")),
        ("threshold", "threshold", ("method", "threshold", "fold")),
        ("imbalance", "imbalance", ("method", "split", "fold")),
        ("momentum", "momentum", ("method", "momentum", "fold")),
        ("seed", "seed", ("method", "seed", "fold")),
        ("factor", "factor", ("method", "factor_weight", "fold")),
        ("cifar100_2500", "cifar100", ("method", "weight_decay", "fold")),
    ],
)
def test_every_run_of_the_papers_tables_is_in_an_experiment(
    experiment: str, table: str, knobs: tuple[str, ...]
) -> None:
    """And none besides, but for what the header of the experiment says."""

    def value(text: str) -> object:
        return float(text) if re.fullmatch(r"[\d.]+", text) else text

    grid = set()
    for words in expand([f"experiment={experiment}"]):
        typed = {key.rpartition(".")[2]: value(text) for key, text in (word.split("=") for word in words)}
        grid.add(tuple(typed[knob] for knob in knobs))
    printed = {tuple(value(row[knob]) for knob in knobs) for row in rows_of_paper(table)}
    assert printed <= grid
    assert len(grid - printed) == {"threshold": 3, "imbalance": 18}.get(experiment, 0)


def test_the_random_labels_are_those_of_the_paper() -> None:
    labels = {word for words in expand(["experiment=random_labels"]) for word in words if word.startswith("num_")}
    assert labels == {f"num_labels={number}" for number in range(40, 151, 10)}


def test_the_command_line_wins_over_the_grid() -> None:
    found = expand(["experiment=cifar10_40", "benchmark=digits_40", "fold=1,2", "method=smooth"])
    assert len(found) == 2
    assert {word for words in found for word in words} == {
        *("experiment=cifar10_40", "benchmark=digits_40", "method=smooth", "fold=1", "fold=2")
    }


def test_parts_that_are_left_out_are_understood() -> None:
    jobs = list_jobs(["method=freematch", "fairness=null,freematch", "annealing=null"])
    assert [job.config.fairness is None for job in jobs] == [True, False]


def test_a_job_knows_what_has_become_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    record = new_record(composed("fold=1"))
    record.status = "interrupted"
    place = tmp_path / "outputs" / "any" / "fold=1,seed=2046" / "x"
    place.mkdir(parents=True)
    write(place, record)
    first, second = list_jobs(["fold=0,1"])
    assert first == Job(["fold=0"], composed("fold=0"), "")
    assert second == Job(["fold=1"], composed("fold=1"), "interrupted")


def test_a_grid_is_not_a_run(tmp_path: Path) -> None:
    done = Process("smoothpl.train", "experiment=threshold", "benchmark=digits_40", "fold=1", cwd=tmp_path).wait()
    assert done.returncode == 1
    assert (
        "experiment=threshold is a grid of runs (method=fixmatch,smooth,smooth_square,smooth_sqrt; thresh"
        in done.stderr
    )
    assert "add -m to run them all" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_looked_at_once_for_all_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    jobs = list_jobs(["data=folder", f"data.root={two_digits(tmp_path / 'own')}", "seed=1,2,3"])
    assert [job.config.seed for job in jobs] == [1, 2, 3]
    assert {job.config.data.size for job in jobs} == {8}
    assert capsys.readouterr().err.count("Chosen for this folder") == 1
