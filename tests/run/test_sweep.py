"""Real multiruns, and the report that is there at their end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from omegaconf import OmegaConf

from smoothpl.layout import SWEEP_RUNS
from smoothpl.record.record import read
from smoothpl.run import sweep
from smoothpl.run.sweep import SweepReport, note_run, share_cores
from tests.support.made_up import made_up, store
from tests.support.processes import ENVIRONMENT, Process

SHORT = ("max_steps=2", "eval_every=2", "batch_size=4", "pictures=false", "callbacks.progress=null")


def test_a_sweep_ends_with_a_report_although_a_job_has_failed(tmp_path: Path) -> None:
    knobs = ("-m", "method=fixmatch,smooth", "fold=0,1", "threshold=0.9,2", "hydra.sweep.dir=sweep", *SHORT)
    done = Process("smoothpl.train", *knobs, cwd=tmp_path).wait()
    assert done.returncode == 1
    assert done.stderr.count("failed: threshold=2.0 must") == 4
    assert "digits_40, 40 labels, balanced: against fixmatch" in done.stdout
    assert f"report: {tmp_path}/sweep/report.html" in done.stdout
    for suffix in ("html", "md", "csv", "tex"):
        assert "smooth" in (tmp_path / "sweep" / f"report.{suffix}").read_text()
    assert len((tmp_path / "sweep" / SWEEP_RUNS).read_text().splitlines()) == 4
    page = (tmp_path / "sweep" / "report.html").read_text()
    assert page.split("All runs")[0].count(">refused</td>") == 4


def test_runs_that_were_finished_before_are_in_the_report_of_a_sweep_that_is_completed(tmp_path: Path) -> None:
    knobs = ("-m", "method=fixmatch", "resume=auto", *SHORT)
    assert Process("smoothpl.train", *knobs, "fold=0", cwd=tmp_path).wait().returncode == 0
    done = Process("smoothpl.train", *knobs, "fold=0,1", "hydra.sweep.dir=second", cwd=tmp_path).wait()
    assert done.returncode == 0, done.stderr
    assert "job 1 of 2\n" in done.stdout
    assert "job 2 of 2, about 0 min left" in done.stdout
    first, second = (tmp_path / "second" / SWEEP_RUNS).read_text().splitlines()
    assert "second" not in first
    assert read(Path(second)).config["fold"] == 1
    assert first.split("/")[-1] in (tmp_path / "second" / "report.html").read_text().replace("<wbr>", "")


def test_a_report_that_fails_is_in_the_exit_code(tmp_path: Path) -> None:
    """The same run twice: how often it logs is not part of a recipe."""
    knobs = ("-m", "log_every=1,2", "hydra.sweep.dir=sweep", *SHORT)
    done = Process("smoothpl.train", *knobs, cwd=tmp_path).wait()
    assert done.returncode == 1
    assert "was run twice with fold=0 seed=2046" in done.stderr
    assert len(list(tmp_path.rglob("run.json"))) == 2


def test_a_sweep_of_which_nothing_came_has_no_report(tmp_path: Path) -> None:
    report = SweepReport()
    report.folder = tmp_path
    report.conclude()
    note_run(tmp_path, tmp_path / "gone")
    report.conclude()
    assert [path.name for path in tmp_path.iterdir()] == [SWEEP_RUNS]


def test_the_report_of_a_sweep_can_choose_among_duplicates(tmp_path: Path) -> None:
    for started in ("2026-11-16", "2026-11-17"):
        note_run(tmp_path, store(tmp_path, made_up("smooth", 0, 5.0, started=started)))
    report = SweepReport(duplicates="newest")
    report.folder = tmp_path
    report.conclude()
    assert (tmp_path / "report.html").exists()


@pytest.mark.parametrize("launcher", ["joblib", "submitit_local"])
def test_jobs_run_side_by_side_and_the_report_has_them_all(tmp_path: Path, launcher: str) -> None:
    """Two processes at once; SLURM's launcher is the same code as the local one, with another queue."""
    knobs = [f"hydra/launcher={launcher}", "method=fixmatch,smooth", "hydra.sweep.dir=sweep", *SHORT]
    knobs += ["hydra.launcher.n_jobs=2"] if launcher == "joblib" else ["hydra.launcher.timeout_min=3"]
    environment = {**os.environ, **ENVIRONMENT}
    command = [sys.executable, "-m", "smoothpl.train", "-m", *knobs]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "digits_40, 40 labels, balanced: against fixmatch" in done.stdout
    if launcher == "joblib":  # submitit keeps what jobs say in files of its own
        assert "job 1 of 2\n" in done.stdout
        assert "job 2 of 2, about 0 min left\n" in done.stdout
    assert sorted(read(path.parent).config["method"] for path in tmp_path.rglob("run.json")) == ["fixmatch", "smooth"]


@pytest.mark.parametrize(("at_once", "threads"), [(2, 4), (3, 2), (-1, 1), (16, 1)])
def test_jobs_that_run_at_the_same_time_share_the_cores(
    at_once: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "num_cores", lambda: 8)
    share_cores(OmegaConf.create({"launcher": {"n_jobs": at_once}}))  # type: ignore[arg-type]
    assert torch.get_num_threads() == threads


def test_one_job_at_a_time_has_all_cores() -> None:
    torch.set_num_threads(2)
    share_cores(OmegaConf.create({"launcher": {}}))  # type: ignore[arg-type]
    assert torch.get_num_threads() == 2
