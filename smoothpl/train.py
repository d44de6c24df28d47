"""python -m smoothpl.train: train a classifier from few labels: one run, or with -m a sweep

The story of a run. What was typed is completed (run/command_line.py), composed by Hydra from conf/, and checked
(config/checks/). The run gets a directory, or goes back to the one it had (run/resume.py). It is trained
(run/training.py) and leaves a record there (record/). Its result is printed and drawn (results/). A sweep is many such
runs, and ends with a report over them (run/sweep.py).
"""

import logging
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from smoothpl.cli.interrupts import answer_interrupts, interrupts_deferred

if __name__ == "__main__":
    answer_interrupts()  # before the imports that take long

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from smoothpl.cli.front_door import run_command
from smoothpl.cli.help import asks_for_help, asks_for_version, show_help, show_version
from smoothpl.config.checks import check
from smoothpl.config.knobs import conf_dir
from smoothpl.config.overrides import CommandLine
from smoothpl.config.recipe import recipe_name
from smoothpl.config.resolvers import register
from smoothpl.config.typed_words import check_single, readable
from smoothpl.layout import RECORD
from smoothpl.run.command_line import complete
from smoothpl.run.processes import is_first_process
from smoothpl.run.resume import find_run, how_to_continue, typed_for
from smoothpl.run.sweep import check_sweep, join_sweep, note_failure, reported

if TYPE_CHECKING:  # torch and Lightning are imported late: refusing a typo must not take seconds
    from smoothpl.data.folder.scan import Scan
    from smoothpl.record.record import Record


def main() -> None:
    line = readable(CommandLine.parse(sys.argv[1:]))
    check_single(line)
    register()
    if asks_for_version(line):
        show_version()
        return
    if asks_for_help(line):
        show_help(line)
        return
    request = complete(line)
    sys.argv[1:] = request.line.arguments  # where Hydra, and the processes of trainer=ddp, read them

    @hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="train")
    def job(config: DictConfig) -> float | None:
        return run(config, request.scan)

    with reported():
        job()


def run(config: DictConfig, scan: "Scan | None") -> float | None:
    """The only run, or one job of a sweep. -> its error, for Hydra's optimising sweepers."""
    job = HydraConfig.get()
    fresh = run_dir = Path(job.runtime.output_dir)
    try:
        check(config, job.overrides.task)
        check_sweep(job, config)
        run_dir = find_run(config, fresh)
        join_sweep(job, run_dir)
        logging.getLogger("matplotlib").setLevel(logging.WARNING)  # its greeting at the very first import
        with interrupts_deferred():
            from smoothpl.run.training import train
            from smoothpl.run.verdict import with_verdict

        started = monotonic()
        record = train(config, run_dir, recipe_name(config, job.job.override_dirname), typed_for(job), scan)
        if config.verdict is not None:
            record = with_verdict(config, run_dir, record, scan, started)
    except Exception as error:
        note_failure(job, error, run_dir)
        raise
    except BaseException as error:  # Ctrl-C, a signal, max_time, a collapse
        if not (run_dir / RECORD).is_file():
            sys.exit("\ninterrupted before the run was started; there is nothing to resume.")
        sys.exit(how_to_continue(config, run_dir, error) if is_first_process() else 1)
    finally:
        remove_if_empty(fresh)
    if is_first_process():
        show(record, run_dir, with_picture=config.pictures)
    return record.error


def show(record: "Record", run_dir: Path, with_picture: bool) -> None:
    from smoothpl.plots.style import attempt
    from smoothpl.results.run_picture import draw_run
    from smoothpl.results.summary import print_summary

    print_summary(record, run_dir)
    if with_picture:
        attempt(lambda: draw_run(record, run_dir))


def remove_if_empty(run_dir: Path) -> None:
    """Leaves no directories behind when nothing was started: Hydra makes them before it calls us."""
    with suppress(OSError):  # not empty: something was started
        while run_dir.is_relative_to(Path.cwd()) and run_dir != Path.cwd():
            run_dir.rmdir()
            run_dir = run_dir.parent


if __name__ == "__main__":
    run_command(main)
