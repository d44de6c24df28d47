"""The end of a multirun: a report over all of its runs, whatever became of them."""

from pathlib import Path
from typing import Any, ClassVar

from hydra.experimental.callback import Callback
from omegaconf import DictConfig

from smoothpl.results.record import FILE_NAME

RUNS = "runs.txt"
"""In the sweep's folder, the places of its runs: with resume=auto some are elsewhere."""


class SweepReport(Callback):
    """Hydra tells it when a sweep begins. Of the end it tells only if no job has failed, and errors are warnings then;
    so smoothpl.train asks for the report itself, when the sweep is over in any way."""

    begun: ClassVar["SweepReport | None"] = None

    def __init__(self, baseline: str = "fixmatch") -> None:
        self.baseline = baseline
        self.folder = Path()

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        self.folder = Path(config.hydra.sweep.dir).resolve()
        SweepReport.begun = self

    def conclude(self) -> None:
        """Leaves report.html and the same as Markdown, CSV and LaTeX in the sweep's folder."""
        from rich.console import Console

        from smoothpl.report import save, show
        from smoothpl.results.reporting import Options, build_report
        from smoothpl.results.runs import read_runs

        SweepReport.begun = None
        places = self.places()
        if not places:
            return
        report = build_report(read_runs(places), Options(baseline=self.baseline))
        console = Console()
        console.rule()
        show(report, console)
        path, *_ = save(report, self.folder)
        console.print(f"report: {path}", soft_wrap=True, markup=False, highlight=False)

    def places(self) -> list[Path]:
        """Of the runs that left a record; a job that never came so far has been told of."""
        noted = self.folder / RUNS
        lines = noted.read_text().splitlines() if noted.exists() else []
        return [Path(line) for line in dict.fromkeys(lines) if (Path(line) / FILE_NAME).is_file()]


def note_run(sweep_dir: Path, run_dir: Path) -> None:
    """A line for every job that began, appended at once: jobs may be processes of their own."""
    with (sweep_dir / RUNS).open("a") as file:
        file.write(f"{run_dir}\n")
