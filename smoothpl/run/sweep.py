"""A sweep, Hydra's multirun: what may be part of it, how far it is, and a report over all of its runs."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import time
from typing import Any, ClassVar

from hydra.conf import HydraConf
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig

from smoothpl.cli.front_door import explain
from smoothpl.config.overrides import key_of
from smoothpl.errors import ConfigError
from smoothpl.io.cores import num_cores
from smoothpl.layout import RECORD, REFUSED_JOBS, SWEEP_RUNS


class SweepReport(Callback):
    """Hydra calls it when a sweep starts. At the end it would call it only if no job has failed, and turn errors into
    warnings; so smoothpl.train asks for the report itself (`reported`), however the sweep ended."""

    started_one: ClassVar["SweepReport | None"] = None

    def __init__(self, baseline: str = "fixmatch", duplicates: Any = "error") -> None:
        self.baseline = baseline
        self.duplicates = duplicates
        self.folder = Path()
        self.num_jobs = 0
        self.started = 0.0

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        from smoothpl.run.hydra_sweeper import expand_grid

        self.folder = Path(config.hydra.sweep.dir).resolve()
        self.num_jobs = len(expand_grid(config.hydra.sweeper.get("params") or {}, config.hydra.overrides.task))
        self.started = time()
        SweepReport.started_one = self

    def on_job_start(self, config: DictConfig, **_: Any) -> None:
        """How far the sweep is. Jobs that run elsewhere, several at a time, have a copy of this object that knows."""
        if not self.num_jobs:
            return
        number = config.hydra.job.num
        left = (time() - self.started) / number * (self.num_jobs - number) if number else None
        time_left = "" if left is None else f", about {round(left / 60)} min left"
        sys.stdout.write(f"job {number + 1} of {self.num_jobs}{time_left}\n")

    def conclude(self) -> None:
        """Leaves report.html and the same as Markdown, CSV and LaTeX in the sweep's folder."""

        from smoothpl.cli.messages import Terminal, say
        from smoothpl.results.output import deliver
        from smoothpl.results.report import Options, build_report
        from smoothpl.results.runs import runs_below

        SweepReport.started_one = None
        runs = runs_below([self.folder])
        if not runs:
            return
        options = Options.parse({"baseline": self.baseline, "duplicates": self.duplicates})
        report = build_report(runs, options)
        console = Terminal()
        console.rule()
        path, *_ = deliver(report, console, self.folder)
        say(f"report: {path}")


@contextmanager
def reported() -> Iterator[None]:
    """If a sweep was started meanwhile, it ends with its report, also when some jobs have failed."""
    try:
        yield
    except BaseException:
        try:
            conclude_sweep()
        except Exception as error:  # of two errors, the first one is raised
            sys.stderr.write(f"no report: {explain(error)}\n")
        raise
    conclude_sweep()


def conclude_sweep() -> None:
    if SweepReport.started_one is not None:
        SweepReport.started_one.conclude()


def check_sweep(job: HydraConf, config: DictConfig) -> None:
    check_ranks(job, config)
    check_grid(job)


def check_ranks(job: HydraConf, config: DictConfig) -> None:
    if job.mode == RunMode.MULTIRUN and config.trainer.devices not in (1, "1"):
        raise ConfigError(
            f"trainer.devices={config.trainer.devices} in a multirun: every process of a job would start the whole "
            "sweep again; use trainer.devices=1, or one command for each run."
        )


def check_grid(job: HydraConf) -> None:
    """An experiment is many runs: one of them has to be chosen, or all."""
    if job.mode == RunMode.MULTIRUN:
        return
    typed = {key_of(word) for word in job.overrides.task}
    open_knobs = [f"{key}={values}" for key, values in (job.sweeper.get("params") or {}).items() if key not in typed]
    if open_knobs:
        raise ConfigError(
            f"experiment={job.runtime.choices['experiment']} is a grid of runs ({'; '.join(open_knobs)}): add -m to "
            "run them all, or give each of these knobs one value. smoothpl jobs lists the runs."
        )


def join_sweep(job: HydraConf, run_dir: Path) -> None:
    """Notes a run in the folder of its sweep, at once: jobs may be processes of their own."""
    if job.mode == RunMode.MULTIRUN:
        share_cores(job)
        note_run(Path(job.sweep.dir).resolve(), run_dir)


def share_cores(job: HydraConf) -> None:
    """Each of the jobs that run at the same time (hydra/launcher=joblib) takes its part of the machine."""
    at_once = job.launcher.get("n_jobs", 1)
    if at_once != 1:
        import torch

        torch.set_num_threads(max(1, num_cores() // (at_once if at_once > 0 else num_cores())))


def note_run(sweep_dir: Path, run_dir: Path) -> None:
    with (sweep_dir / SWEEP_RUNS).open("a") as file:
        file.write(f"{run_dir}\n")


def note_refusal(sweep_dir: Path, words: list[str], why: str) -> None:
    with (sweep_dir / REFUSED_JOBS).open("a") as file:
        file.write(json.dumps({"words": words, "why": why}) + "\n")


def note_failure(job: HydraConf, error: Exception, run_dir: Path) -> None:
    """Hydra raises the first error of a sweep at its end, and drops the others."""
    if job.mode == RunMode.MULTIRUN:
        sys.stderr.write(f"job {job.job.num} failed: {explain(error)}\n")
        if not (run_dir / RECORD).exists():
            note_refusal(Path(job.sweep.dir).resolve(), list(job.overrides.task), explain(error))
