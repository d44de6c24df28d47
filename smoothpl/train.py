"""python -m smoothpl.train: the story of a run, from knobs to record."""

import logging
import shutil
import sys
import warnings
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext, suppress
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import hydra
from hydra.conf import HydraConf
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from smoothpl.checkpoints import Checkpoint, newest_whole
from smoothpl.cli.front_door import explain, run_command
from smoothpl.cli.help import asks_for_help, show_help
from smoothpl.config.checks import check, seconds
from smoothpl.config.folder_defaults import with_choices, with_new_labels
from smoothpl.config.knobs import conf_dir
from smoothpl.config.recipe import plain, recipe_digest, recipe_name
from smoothpl.config.resolvers import register
from smoothpl.errors import DivergenceError, Interruption
from smoothpl.growth import OF_GROWTH, can_grow, check_nested, check_pause, inherit, note_stage
from smoothpl.layout import CHECKPOINTS, LAST_CHECKPOINT
from smoothpl.record.record import Record, new_record, write
from smoothpl.resume import check_same, find_parent, find_run, goes_on, open_run, with_recorded_overrides
from smoothpl.run.lock import claim, hold, recording
from smoothpl.sweep import SweepReport, check_grid, check_ranks, note_run, share_cores, tell_of_failure

if TYPE_CHECKING:  # torch and Lightning are imported late: saying no to a typo must not take seconds
    from lightning import Trainer

    from smoothpl.callbacks import Checkpointer
    from smoothpl.data import SemiSupervisedData
    from smoothpl.module import SemiSupervisedModule


register()


def train(config: DictConfig, run_dir: Path, name: str = "", overrides: Sequence[str] = ()) -> Record:
    """Builds the parts, fits, evaluates the averaged network on the whole test set, and leaves a record."""
    logging.getLogger("matplotlib").setLevel(logging.WARNING)  # its greeting at the very first import
    from lightning import seed_everything

    from smoothpl.build import build_data, build_module, build_trainer, check_loggers
    from smoothpl.callbacks import Checkpointer, Recorder
    from smoothpl.machine import check_precision, use_tf32

    is_first = is_first_process()
    quiet_libraries()
    check_precision(config.trainer.precision, config.trainer.accelerator)
    use_tf32(config.tf32)
    check_loggers(config)
    seed_everything(config.seed, verbose=False)  # the initial weights; all else has generators of its own
    start = newest_whole(run_dir / CHECKPOINTS)
    module = build_module(config, begins=start is None and not config.labels_before)
    data = build_data(config)
    with hold(run_dir) if is_first else nullcontext(), ExitStack() as last_words:  # when the record is written
        is_new = not goes_on(config, run_dir)
        record = begin(config, name, overrides) if is_new else go_on(config, run_dir, name, overrides)
        if record.status == "finished":
            return record
        check_nested(record, data)
        check_pause(config, start)
        if is_new and is_first:
            claim(run_dir, record)
        with recording(run_dir, record) if is_first else nullcontext():
            if not is_new:
                record.resumed_at.append(0 if start is None else start.step)
                note_stage(record, config.num_labels, record.resumed_at[-1])
            record.status = "running"
            if is_first:
                write(run_dir, record)
            if config.labels_before and start is None:
                inherit(module, record)
            if config.unlabeled_weight == "auto":
                module.unlabeled_weight = measure_unlabeled_weight(config, run_dir, record)
            max_time = None if config.max_time is None else seconds(config.max_time)
            checkpointer = Checkpointer(run_dir / CHECKPOINTS, config.checkpoint_every, config.eval_every, max_time)
            # The record first, so that what is shown has been recorded; checkpoints last, when all is done.
            trainer = build_trainer(config, run_dir, [Recorder(record, run_dir)], [checkpointer])
            last_words.callback(tell_mirrors, trainer, record)
            fit(trainer, module, data, start, checkpointer)
            checkpointer.save_last(trainer, run_dir / LAST_CHECKPOINT)
            if not record.history or record.history[-1].step < trainer.global_step:
                trainer.validate(module, datamodule=data, verbose=False)
        if is_first:  # and not before the record says that it is finished
            shutil.rmtree(run_dir / CHECKPOINTS, ignore_errors=True)
    return record


def tell_mirrors(trainer: "Trainer", record: Record) -> None:
    """How it ended, in any way: one that is left open would take the next run of a sweep for this one."""
    from smoothpl.loggers import mirrors_of

    for mirror in mirrors_of(trainer) if is_first_process() else []:
        mirror.summarise(record, record.status)


def begin(config: DictConfig, name: str, overrides: Sequence[str]) -> Record:
    record = new_record(config, name, overrides)
    parent = find_parent(config)
    if parent is not None:
        record.label_history = [*parent.stages, *record.label_history]
        record.labeled, record.labeled_as = parent.record.labeled, parent.record.labeled_as  # so far
    return record


def go_on(config: DictConfig, run_dir: Path, name: str, overrides: Sequence[str]) -> Record:
    record = open_run(run_dir)
    if record.status != "finished":
        has_grown = config.num_labels != record.config["num_labels"] and bool(config.labels_until_pause)
        check_same(record, config, *(OF_GROWTH if has_grown else ()))
        record.name = name if has_grown else record.name
        record.config, record.recipe, record.overrides = plain(config), recipe_digest(config), list(overrides)
        record.failure = None
    return record


def fit(
    trainer: "Trainer",
    module: "SemiSupervisedModule",
    data: "SemiSupervisedData",
    start: Checkpoint | None,
    checkpointer: "Checkpointer",
) -> None:
    try:
        trainer.fit(module, datamodule=data, ckpt_path=None if start is None else start.path)
        if trainer.global_step < trainer.max_steps:
            raise Interruption(checkpointer.reason(trainer))
        module.check_health(trainer.global_step)
    except SystemExit as error:  # what Lightning makes of an interruption
        raise Interruption(checkpointer.reason(trainer)) from error
    except DivergenceError as error:
        good = newest_whole(checkpointer.folder)
        raise DivergenceError(f"{error} The last good checkpoint: {good.path if good else 'none'}.") from error


def is_first_process() -> bool:
    """Of several that share every step: the one that writes and speaks."""
    from lightning.pytorch.utilities import rank_zero_only

    return bool(rank_zero_only.rank == 0)  # type: ignore[attr-defined]


def measure_unlabeled_weight(config: DictConfig, run_dir: Path, record: Record) -> float:
    from rich.console import Console

    from smoothpl.calibrate import calibrate

    if not record.calibration:  # else it was measured before the run was interrupted
        Console().print("measuring the unlabeled weight in two short runs:")
        record.calibration = calibrate(config)._asdict()
        write(run_dir, record)
    weight = record.calibration["unlabeled_weight"]
    assert weight is not None
    return weight


def quiet_libraries() -> None:
    """Silences what the user cannot act on."""
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", message=".*LeafSpec.* is deprecated")  # between Lightning 2.6 and torch
    warnings.filterwarnings("ignore", message=".*smaller than the logging interval")  # the module sees to that
    # Steps are made in the main process on purpose: for small images it is faster than handing them over.
    warnings.filterwarnings("ignore", message=".*does not have many workers.*")
    warnings.filterwarnings("ignore", message=".*broadcast_buffers.* is deprecated")  # its successor is too new
    warnings.filterwarnings("ignore", message=".*recommended to use `self.log.*sync_dist=True")  # it is synced before


def remove_if_empty(run_dir: Path) -> None:
    """Leaves no directories behind when nothing was begun: Hydra makes them before it asks us."""
    with suppress(OSError):  # not empty: something was begun
        while run_dir.is_relative_to(Path.cwd()) and run_dir != Path.cwd():
            run_dir.rmdir()
            run_dir = run_dir.parent


@hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="train")
def hydra_main(config: DictConfig) -> float | None:
    run = HydraConfig.get()
    fresh = run_dir = Path(run.runtime.output_dir)
    try:
        check(config, run.overrides.task)
        check_ranks(config, run.mode)
        check_grid(run)
        run_dir = find_run(config, fresh)
        if run.mode == RunMode.MULTIRUN:
            share_cores(run)
            note_run(Path(run.sweep.dir).resolve(), run_dir)
        record = train(config, run_dir, recipe_name(config, run.job.override_dirname), said(run))
    except BaseException as error:
        if run.mode == RunMode.MULTIRUN and isinstance(error, Exception):
            tell_of_failure(run, error, run_dir)
        if run_dir.exists() and not isinstance(error, Exception):  # Ctrl-C, which Lightning turns into an exit
            sys.exit(how_to_go_on(config, run_dir, error) if is_first_process() else 1)
        raise
    finally:
        remove_if_empty(fresh)
    if is_first_process():
        from smoothpl.results.summary import print_summary

        print_summary(record, run_dir)
        if config.pictures:
            from smoothpl.plots.style import attempt
            from smoothpl.results.run_picture import draw_run

            attempt(lambda: draw_run(record, run_dir))
    return record.error


def how_to_go_on(config: DictConfig, run_dir: Path, error: BaseException) -> str:
    by = f" by {error}" if str(error) else ""
    command = f"python -m smoothpl.train {quote(f'resume={run_dir}')}"
    watch = config.callbacks.collapse
    paused = watch is not None and watch.action == "pause" and str(error).startswith("collapse")
    if not paused or not can_grow(config):
        return f"interrupted{by}; to go on: {command}"
    if "album" in config.data:
        return f"interrupted{by}; to go on, with the labels that there are then: {command}"
    more = config.num_labels + config.data.num_classes
    return f"interrupted{by}; to go on with more labels: {command} num_labels={more}; as it is: {command}"


def said(run: HydraConf) -> list[str]:
    """What was said of the run, and not of how to go on with it; with the folder of one's own YAML, if there is one."""
    folders = [each.path for each in run.runtime.config_sources if each.provider == "command-line"]
    knobs = [each for each in run.overrides.task if not each.startswith(("resume=", "resume_allow="))]
    return [*(f"--config-dir={Path(folder).resolve()}" for folder in folders), *knobs]


def main() -> None:
    if asks_for_help(sys.argv[1:]):
        show_help(sys.argv[1:])
        return
    sys.argv[1:] = with_choices(with_recorded_overrides(with_new_labels(sys.argv[1:])))
    try:
        hydra_main()
    except BaseException:
        try:
            report_sweep()
        except Exception as error:  # of two things that went wrong, the first one is what is raised
            sys.stderr.write(f"no report: {explain(error)}\n")
        raise
    report_sweep()


def report_sweep() -> None:
    if SweepReport.begun is not None:
        SweepReport.begun.conclude()


if __name__ == "__main__":
    run_command(main)
