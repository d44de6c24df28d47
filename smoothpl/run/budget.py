"""minutes=5: as many steps, and for a folder images as large, as this machine trains in that time."""

from collections.abc import Sequence
from copy import deepcopy
from time import monotonic
from typing import Any, NamedTuple

from hydra.utils import instantiate
from lightning import Callback, LightningModule, Trainer, seed_everything
from omegaconf import DictConfig

from smoothpl.cli.messages import inform
from smoothpl.config.compose import compose_checked
from smoothpl.config.overrides import CommandLine
from smoothpl.data.folder.scan import Scan
from smoothpl.errors import ConfigError, require
from smoothpl.run.build import build_data, build_module
from smoothpl.run.hydra_sweeper import split_into_jobs
from smoothpl.run.quiet import quiet_libraries
from smoothpl.run.step_time import images_of_step, seconds_of_step

WARM_UP, LONGEST, MOST_TIMED = 2, 5.0, 20
"""Steps that are not timed; seconds, and steps, that are."""
FEWEST_STEPS, MOST_STEPS = 20, 2**20
EVALUATIONS, THEIR_SHARE = 10, 0.2
"""How often a run is evaluated, and the share of the time that this may take."""


class Pace(NamedTuple):
    """What a run takes here, in seconds."""

    step: float
    evaluation: float


class Fit(NamedTuple):
    """Which of some command lines fits, and the knobs that make it fit."""

    which: int
    knobs: dict[str, object]


def fit_into(minutes: float, lines: Sequence[CommandLine], scan: Scan | None = None) -> Fit:
    """The first of some command lines, the best one first, whose own number of steps fits; or the last one."""
    require(
        first_job(lines[0]).finetune is None,
        f"minutes={minutes:g} chooses the steps of one stage, and finetune is a second one; set finetune.max_steps: "
        "what it costs is told before it begins.",
    )
    which = next((at for at, line in enumerate(lines[:-1]) if fits(first_job(line), 60 * minutes)), len(lines) - 1)
    config = first_job(lines[which])
    pace = measure(config, scan)
    num_steps, num_evaluations = plan(60 * minutes, pace, has_short_runs=config.unlabeled_weight == "auto")
    if num_steps < FEWEST_STEPS:
        raise ConfigError(
            f"minutes={minutes:g} is enough for {num_steps} steps of {pace.step:.2g} s here, and a run needs at least "
            f"{FEWEST_STEPS}; give it more time, or less to do: smaller images, a smaller net or batch_size."
        )
    inform(f"minutes={minutes:g}: a step takes {pace.step:.2g} s here, so max_steps={num_steps}.")
    return Fit(which, {"max_steps": num_steps, "eval_every": max(1, num_steps // num_evaluations)})


def fits(config: DictConfig, seconds: float) -> bool:
    """Tried quickly, on noise: views, averages and evaluations take a third more, about."""
    return bool(1.3 * seconds_of_step(config, build_module(config).network) * config.max_steps <= seconds)


def first_job(line: CommandLine) -> DictConfig:
    """A sweep is timed by its first run."""
    return compose_checked(split_into_jobs(line.words_to_compose)[0])


def plan(seconds: float, pace: Pace, has_short_runs: bool = False) -> tuple[int, int]:
    """How many steps, and how many evaluations."""
    most = int(THEIR_SHARE * seconds / pace.evaluation) if pace.evaluation else EVALUATIONS
    num_evaluations = min(EVALUATIONS, max(1, most))
    left = seconds - num_evaluations * pace.evaluation
    longer = 1.2 if has_short_runs else 1  # unlabeled_weight=auto: two, of a tenth of the steps
    return min(MOST_STEPS, max(0, int(left / pace.step / longer))), num_evaluations


class StepTimer(Callback):
    def __init__(self) -> None:
        self.ends: list[float] = []

    def on_train_batch_end(self, trainer: Trainer, pl_module: LightningModule, *_: Any) -> None:
        if trainer.global_step == len(self.ends):  # a part of a step
            return
        self.ends.append(monotonic())
        timed = self.ends[WARM_UP - 1 :]
        if len(timed) > MOST_TIMED or (len(timed) > 1 and timed[-1] - timed[0] > LONGEST):
            trainer.should_stop = True

    @property
    def seconds(self) -> float:
        """The mean: a busy machine stays busy."""
        timed = self.ends[WARM_UP - 1 :]
        return (timed[-1] - timed[0]) / (len(timed) - 1)


def measure(config: DictConfig, scan: Scan | None) -> Pace:
    """A few real steps, on real images; nothing is left of them."""
    quiet_libraries()
    short = deepcopy(config)
    short.max_steps = WARM_UP + MOST_TIMED
    timer = StepTimer()
    seed_everything(short.seed, verbose=False)
    ema = instantiate(short.callbacks.ema)
    trainer: Trainer = instantiate(short.trainer, logger=False, limit_val_batches=0, callbacks=[ema, timer])
    data = build_data(short, scan)
    trainer.fit(build_module(short), datamodule=data)
    # Without gradients an image takes a third of the time.
    of_image = timer.seconds / images_of_step(short) / 3
    return Pace(timer.seconds, of_image * len(data.source.test))
