"""python -m benchmarks.waits: how often a step waits for the device to tell a number, and breaks of its graph.

Counted, not timed, so that no device is needed: every operation that would have to bring a number from a GPU.
"""

from collections.abc import Iterator

import torch
from lightning import Trainer

from benchmarks.line import Line, show
from benchmarks.plain_loop import PlainLoop
from benchmarks.setting import data_for
from benchmarks.waiting import Synchronisations
from smoothpl.config.compose import compose_checked
from smoothpl.run.build import build_module
from smoothpl.run.quiet import quiet_libraries

KNOBS = ("benchmark=cifar10_40", "batch_size=2", "method=flexmatch")


def lines() -> Iterator[Line]:
    yield Line("waits for the device in a step", ours(), plain(), "", "the plain loop", limit=0)
    yield Line("breaks in the graph of a compiled step", graph_breaks(), None, "", "", limit=0)


def ours() -> int:
    quiet_libraries()
    config = compose_checked([*KNOBS, "log_every=100"])
    data = data_for(*KNOBS)
    module = build_module(config)
    assert module.weighting is not None
    module.weighting.prepare(len(data.fold.unlabeled), data.labeled_per_class)
    raw = next(iter(data.train_dataloader()))
    module.trainer = Trainer(max_steps=100, logger=False, enable_checkpointing=False, barebones=True)
    module.trainer.fit_loop.epoch_loop.batch_progress.is_last_batch = False
    data.views.of_step(raw)  # what is made once per device
    waits = Synchronisations()
    with waits:
        module.training_step(data.views.of_step(raw), 0).backward()  # type: ignore[no-untyped-call]
    return waits.found.total()


def plain() -> int:
    loop = PlainLoop(batch_size=2, num_workers=0)
    loop.step()
    waits = Synchronisations()
    with waits:
        loop.step()
    return waits.found.total()


def graph_breaks() -> int:
    torch._dynamo.reset()
    counts = torch._dynamo.utils.counters
    counts.clear()
    module = build_module(compose_checked(KNOBS))
    data = data_for(*KNOBS)
    assert module.weighting is not None
    module.weighting.prepare(len(data.fold.unlabeled), data.labeled_per_class)
    module.compile_step(backend="aot_eager")
    batch = data.views.of_step(next(iter(data.train_dataloader())))
    module.learn_from_all(batch, module.weighting)
    return sum(counts["graph_break"].values()) + counts["stats"]["unique_graphs"] - 1


if __name__ == "__main__":
    show(lines())
