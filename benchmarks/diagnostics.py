"""python -m benchmarks.diagnostics: what watching a run costs, as a share of training at default intervals.

Every part is timed alone, inside a real run, because together they are less than the noise of a step. What counts as a
diagnostic: the watch over purity and classes, the means of the losses and their logging, the watch over collapse, the
bins of the reliability diagram, the record at every evaluation, the pictures. Evaluating the network on the test set is
not a diagnostic: it is the result. Needs SMOOTHPL_DATA.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.line import Line, show
from benchmarks.setting import data_folder
from smoothpl.callbacks import CollapseWatch, Gallery, PurityWatch, Recorder
from smoothpl.config.compose import compose_checked
from smoothpl.loggers import Curves
from smoothpl.metrics.reliability import Reliability
from smoothpl.metrics.running_means import RunningMeans
from smoothpl.record.record import new_record
from smoothpl.results.run_picture import draw_run
from smoothpl.run.build import build_data, build_module, build_trainer
from smoothpl.run.quiet import quiet_libraries

STEPS = 10
KINDS = [("benchmark=digits_40",), ("benchmark=cifar10_40", "batch_size=16")]
PARTS: dict[str, list[tuple[type, str]]] = {
    "means of losses": [(RunningMeans, "add"), (RunningMeans, "flush")],
    "purity, classes": [(PurityWatch, "on_train_batch_end")],
    "curves": [(Curves, "log_metrics")],
    "reliability": [(Reliability, "update"), (Reliability, "compute")],
    "collapse": [(CollapseWatch, "on_validation_end")],
    "record": [(Recorder, "on_validation_end")],
    "pictures of pseudo-labels": [(Gallery, "on_train_batch_end"), (Gallery, "on_validation_end")],
}
OF_EVALUATION = ("reliability", "collapse", "record")


class Stopwatches:
    """Replaces methods by timed ones."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    def watch(self, part: str, owner: Any, name: str) -> None:
        untimed: Callable[..., Any] = getattr(owner, name)

        def timed(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                return untimed(*args, **kwargs)
            finally:
                self.seconds[part] += time.perf_counter() - start

        setattr(owner, name, timed)


def lines() -> Iterator[Line]:
    data_folder()
    quiet_libraries()
    watches = Stopwatches()
    for part, methods in PARTS.items():
        for owner, name in methods:
            watches.watch(part, owner, name)
    for knobs in KINDS:
        spent, step = shares(watches, *knobs)
        name = " ".join(knobs).removeprefix("benchmark=")
        yield Line(f"all diagnostics, of a step, {name}", 1e3 * step * sum(spent.values()), 1e3 * step, "ms", "a step")


def shares(watches: Stopwatches, *knobs: str) -> tuple[dict[str, float], float]:
    """Seconds of every part in a run of full length, over the seconds of its steps; and the seconds of a step."""
    whole = compose_checked(knobs)
    every = min(STEPS, whole.eval_every)
    config = compose_checked([*knobs, f"max_steps={STEPS}", f"eval_every={every}", "callbacks.progress=null"])
    watches.seconds.clear()
    with TemporaryDirectory() as folder:
        record = new_record(config)
        trainer = build_trainer(config, Path(folder), [Recorder(record, Path(folder))])
        module, data = build_module(config), build_data(config)
        watches.watch("step", module, "optimizer_step")  # which makes the whole step: forward, backward, SGD
        trainer.fit(module, datamodule=data)
        per_step = watches.seconds.pop("step") / STEPS
        start = time.perf_counter()
        draw_run(record, Path(folder))
        at_the_end = {
            "pictures of pseudo-labels": watches.seconds.pop("pictures of pseudo-labels"),
            "run.png": time.perf_counter() - start,
        }
    evaluations = STEPS // every
    spent = {
        part: seconds / evaluations / whole.eval_every if part in OF_EVALUATION else seconds / STEPS
        for part, seconds in watches.seconds.items()
    }
    spent |= {part: seconds / whole.max_steps for part, seconds in at_the_end.items()}
    return {part: seconds / per_step for part, seconds in spent.items()}, per_step


if __name__ == "__main__":
    show(lines())
