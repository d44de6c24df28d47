"""A multirun: what may be part of it, how far it is, and a report over all of its runs, whatever became of them."""

import json
import sys
from pathlib import Path
from time import time
from typing import Any, ClassVar

from hydra.conf import HydraConf
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig

from smoothpl.cli.front_door import explain
from smoothpl.errors import ConfigError
from smoothpl.io.cores import num_cores
from smoothpl.layout import RECORD, REFUSED_JOBS, SWEEP_RUNS
from smoothpl.results.runs import Run, places_below, read_runs, without_result
from smoothpl.resume import key_of


class SweepReport(Callback):
    """Hydra tells it when a sweep begins. Of the end it tells only if no job has failed, and errors are warnings then;
    so smoothpl.train asks for the report itself, when the sweep is over in any way."""

    begun: ClassVar["SweepReport | None"] = None

    def __init__(self, baseline: str = "fixmatch", duplicates: Any = "error") -> None:
        self.baseline = baseline
        self.duplicates = duplicates
        self.folder = Path()
        self.num_jobs = 0
        self.started = 0.0

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        from smoothpl.jobs import expand_grid

        self.folder = Path(config.hydra.sweep.dir).resolve()
        self.num_jobs = len(expand_grid(config.hydra.sweeper.get("params") or {}, config.hydra.overrides.task))
        self.started = time()
        SweepReport.begun = self

    def on_job_start(self, config: DictConfig, **_: Any) -> None:
        """How far the sweep is. Jobs that run elsewhere, several at a time, have a copy of this object that knows."""
        if not self.num_jobs:
            return
        number = config.hydra.job.num
        left = (time() - self.started) / number * (self.num_jobs - number) if number else None
        told = "" if left is None else f", about {round(left / 60)} min left"
        sys.stdout.write(f"job {number + 1} of {self.num_jobs}{told}\n")

    def conclude(self) -> None:
        """Leaves report.html and the same as Markdown, CSV and LaTeX in the sweep's folder."""
        from rich.console import Console

        from smoothpl.report import read_options, save, show
        from smoothpl.results.reporting import build_report

        SweepReport.begun = None
        runs = read_runs(sorted(set(places_below(self.folder)))) + refused_jobs(self.folder)
        if not runs:
            return
        options = read_options({"baseline": self.baseline, "duplicates": self.duplicates})
        report = build_report(runs, options)
        console = Console()
        console.rule()
        show(report, console)
        path, *_ = save(report, self.folder)
        console.print(f"report: {path}", soft_wrap=True, markup=False, highlight=False)


def note_run(sweep_dir: Path, run_dir: Path) -> None:
    """A line for every job that began, appended at once: jobs may be processes of their own."""
    with (sweep_dir / SWEEP_RUNS).open("a") as file:
        file.write(f"{run_dir}\n")


def note_refusal(sweep_dir: Path, words: list[str], why: str) -> None:
    with (sweep_dir / REFUSED_JOBS).open("a") as file:
        file.write(json.dumps({"words": words, "why": why}) + "\n")


def refused_jobs(sweep_dir: Path) -> list[Run]:
    noted = sweep_dir / REFUSED_JOBS
    jobs = [json.loads(line) for line in noted.read_text().splitlines()] if noted.exists() else []
    return [without_result(job["why"], "refused", "", " ".join(job["words"])) for job in jobs]


def tell_of_failure(run: HydraConf, error: Exception, run_dir: Path) -> None:
    """Hydra raises the first error of a sweep at its end, and drops the others."""
    sys.stderr.write(f"job {run.job.num} failed: {explain(error)}\n")
    if not (run_dir / RECORD).exists():
        note_refusal(Path(run.sweep.dir).resolve(), list(run.overrides.task), explain(error))


def check_ranks(config: DictConfig, mode: RunMode | None) -> None:
    if mode == RunMode.MULTIRUN and config.trainer.devices not in (1, "1"):
        raise ConfigError(
            f"trainer.devices={config.trainer.devices} in a multirun: every process of a job would start the whole "
            "sweep again; use trainer.devices=1, or one command for each run."
        )


def check_grid(run: HydraConf) -> None:
    """An experiment is many runs: one of them has to be chosen, or all."""
    if run.mode == RunMode.MULTIRUN:
        return
    said_now = {key_of(each) for each in run.overrides.task}
    open_knobs = [f"{key}={values}" for key, values in (run.sweeper.get("params") or {}).items() if key not in said_now]
    if open_knobs:
        raise ConfigError(
            f"experiment={run.runtime.choices['experiment']} is a grid of runs ({'; '.join(open_knobs)}): add -m to "
            "make them all, or give each of these knobs one value. python -m smoothpl.jobs lists the runs."
        )


def share_cores(run: HydraConf) -> None:
    """Of jobs that run at the same time (hydra/launcher=joblib), each takes its part of the machine."""
    at_once = run.launcher.get("n_jobs", 1)
    if at_once != 1:
        import torch

        cores = num_cores()
        torch.set_num_threads(max(1, cores // (at_once if at_once > 0 else cores)))
