"""One run: builds the parts, fits, evaluates the averaged network on the whole test set, and leaves a record."""

import shutil
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path

from lightning import Callback, Trainer, seed_everything
from lightning.pytorch.accelerators import CPUAccelerator
from omegaconf import DictConfig

from smoothpl.backbones.build import digests_of
from smoothpl.backbones.run_files import check_files
from smoothpl.callbacks import Checkpointer, Photographs, Recorder
from smoothpl.cli.messages import say
from smoothpl.config.checks.trainer import seconds
from smoothpl.config.stages import of_head, of_network
from smoothpl.data import SemiSupervisedData
from smoothpl.data.folder.scan import Scan
from smoothpl.errors import DivergenceError, Interruption
from smoothpl.layout import CHECKPOINTS, LAST_CHECKPOINT
from smoothpl.loggers import external_loggers
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.finetuning.whole import WholeNetwork
from smoothpl.record.checkpoints import Checkpoint, newest_whole
from smoothpl.record.record import Record, write
from smoothpl.run import finetune
from smoothpl.run.build import build_data, build_module, build_trainer, check_loggers
from smoothpl.run.equilibrium import measure_unlabeled_weight
from smoothpl.run.lock import check_free, claim, hold, recording
from smoothpl.run.memory import check_step, known_side
from smoothpl.run.more_labels import check_nested, check_pause, inherit, note_stage
from smoothpl.run.precision import check_accelerator, check_precision, use_tf32
from smoothpl.run.processes import is_first_process
from smoothpl.run.quiet import quiet_libraries
from smoothpl.run.resume import AUTO, continued_record, first_record, is_continued
from smoothpl.run.step_time import forecast


def train(
    config: DictConfig, run_dir: Path, name: str = "", overrides: Sequence[str] = (), scan: Scan | None = None
) -> Record:
    """`name` and `overrides` are for the record; `scan` is the folder of images, if it was looked at already."""
    quiet_libraries()
    check_machine(config)
    seed_everything(config.seed, verbose=False)  # the initial weights; all else has generators of its own
    start = newest_whole(run_dir / CHECKPOINTS)
    stage = of_network(config)
    module = build_module(stage, with_pretrained=start is None and not config.labels_before)
    check_memory(stage, module)
    data = build_data(stage, scan)
    with hold(run_dir) if is_first_process() else nullcontext(), ExitStack() as when_recorded:
        continues = is_continued(config, run_dir)
        words = (name, overrides)
        record = continued_record(config, run_dir, *words) if continues else first_record(config, *words)
        if record.status == "finished":
            return record
        check_nested(record, data)
        check_pause(config, start)
        checkpointer = build_checkpointer(stage, run_dir)  # which has max_time from here on
        if is_first_process() and not continues:
            check_free(run_dir)
        take_features(config, data, scan, start)
        if is_first_process() and not continues:
            claim(run_dir, record)
        with recording(run_dir, record) if is_first_process() else nullcontext():
            if continues:
                note_resumption(config, record, start)
            prepare(config, module, run_dir, record, start, scan)
            # The record first, so that what is shown has been recorded; checkpoints last, when all is done.
            trainer = build_trainer(stage, run_dir, keepers(config, record, run_dir), [checkpointer])
            when_recorded.callback(close_loggers, trainer, record)
            announce(stage, module, trainer, 0 if start is None else start.step)
            fit(trainer, module, data, start, checkpointer)
            checkpointer.save_last(trainer, run_dir / LAST_CHECKPOINT)
            evaluate_last(trainer, module, data, record)
        if is_first_process():  # and not before the record says that it is finished
            shutil.rmtree(run_dir / CHECKPOINTS, ignore_errors=True)
    return record


def take_features(config: DictConfig, data: SemiSupervisedData, scan: Scan | None, start: Checkpoint | None) -> None:
    """Before there is a record: a backbone that is refused, or its vectors, leave nothing behind, and the corrected
    command may have the same directory."""
    if config.backbone is None:
        return
    if config.finetune is None:
        data.setup("fit")
    elif start is None and not config.labels_before and is_first_process():  # which trains the head
        build_data(of_head(config), scan).setup("fit")


def note_resumption(config: DictConfig, record: Record, start: Checkpoint | None) -> None:
    record.resumed_at.append(0 if start is None else start.step)
    note_stage(record, config.num_labels, record.resumed_at[-1])


def check_memory(stage: DictConfig, module: SemiSupervisedModule) -> None:
    forgets_nothing = module.remembers
    if isinstance(module.network, WholeNetwork):
        finetune.check_memory(stage, module.network, forgets_nothing)
    else:
        check_step(stage, forgets_nothing)


def check_machine(config: DictConfig) -> None:
    """What is asked of the machine, of the loggers that are installed on it, and of the files of a resumed run."""
    check_accelerator(config.trainer.accelerator)
    check_precision(config.trainer.precision, config.trainer.accelerator)
    use_tf32(config.tf32)
    check_loggers(config)
    if config.backbone is not None and config.resume not in (None, AUTO):
        check_files(dict(config.backbone.encoders), f"resume={config.resume}")


def prepare(
    config: DictConfig,
    module: SemiSupervisedModule,
    run_dir: Path,
    record: Record,
    start: Checkpoint | None,
    scan: Scan | None,
) -> None:
    """What a module has before the first step: the weights of a run before, or of the stage before, and the weight of
    the unlabeled loss."""
    record.status = "running"
    record.backbones = {} if config.backbone is None else digests_of(config.backbone)
    if is_first_process():
        write(run_dir, record)
    if config.labels_before and start is None:
        inherit(module, record)
    elif config.finetune is not None and start is None:
        train_head(config, module, run_dir, record, scan)
    if config.unlabeled_weight == "auto":
        module.set_unlabeled_weight(measure_unlabeled_weight(of_head(config), run_dir, record, scan))


def train_head(
    config: DictConfig, module: SemiSupervisedModule, run_dir: Path, record: Record, scan: Scan | None
) -> None:
    """The first stage of finetuning, a run of its own; one that is finished is not trained again."""
    head, place = finetune.head_run(config, run_dir)
    if is_first_process():
        assert isinstance(module.network, WholeNetwork)
        if is_shown(config):
            finetune.announce(of_network(config), module.network)
        trained = train(head, place, record.name, finetune.words_of_head(record.overrides), scan)
        record.equilibrium = trained.equilibrium
        if is_shown(config):
            say(f"The head alone, on frozen features: {trained.error:.2f} % error. Now the backbone learns, too.")
    finetune.take_head(module, place)


def keepers(config: DictConfig, record: Record, run_dir: Path) -> list[Callback]:
    """Callbacks that keep what was evaluated."""
    return [Recorder(record, run_dir), *([Photographs(run_dir)] if config.pictures else [])]


def announce(config: DictConfig, module: SemiSupervisedModule, trainer: Trainer, first_step: int) -> None:
    """How long it will take; not tried on a GPU, or where images must be opened for it: the first steps will tell. Of
    finetuning it was told before the head, unless that was trained long ago."""
    if not is_shown(config):
        return
    if isinstance(module.network, WholeNetwork):
        if first_step or config.labels_before:
            finetune.announce(config, module.network, first_step)
    elif isinstance(trainer.accelerator, CPUAccelerator) and known_side(config) is not None:
        say(forecast(config, module.network, first_step))


def is_shown(config: DictConfig) -> bool:
    """Whether somebody wants to see how far a run is."""
    return is_first_process() and config.callbacks.get("progress") is not None


def build_checkpointer(config: DictConfig, run_dir: Path) -> Checkpointer:
    max_time = None if config.max_time is None else seconds(config.max_time)
    return Checkpointer(run_dir / CHECKPOINTS, config.checkpoint_every, config.eval_every, max_time)


def fit(
    trainer: Trainer,
    module: SemiSupervisedModule,
    data: SemiSupervisedData,
    start: Checkpoint | None,
    checkpointer: Checkpointer,
) -> None:
    try:
        trainer.fit(module, datamodule=data, ckpt_path=None if start is None else start.path)
        if trainer.global_step < trainer.max_steps:
            raise checkpointer.interruption(trainer)
        module.check_health(trainer.global_step)
    except Interruption:
        raise
    except SystemExit as error:  # what Lightning makes of an interruption
        raise checkpointer.interruption(trainer) from error
    except DivergenceError as error:
        good = newest_whole(checkpointer.folder)
        raise DivergenceError(f"{error} The last good checkpoint: {good.path if good else 'none'}.") from error


def evaluate_last(trainer: Trainer, module: SemiSupervisedModule, data: SemiSupervisedData, record: Record) -> None:
    if not record.history or record.history[-1].step < trainer.global_step:
        trainer.validate(module, datamodule=data, verbose=False)


def close_loggers(trainer: Trainer, record: Record) -> None:
    """However the run ended: a logger that is left open would take the next run of a sweep for this one."""
    for logger in external_loggers(trainer) if is_first_process() else []:
        logger.summarise(record, record.status)
