"""python -m smoothpl.jobs: what a multirun would do, how long it would take, and what is done already."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hydra import compose, initialize_config_dir
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper  # the one that -m uses
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from smoothpl.cli.arguments import compose_checked, read_words
from smoothpl.cli.front_door import run_command
from smoothpl.config.knobs import conf_dir
from smoothpl.config.resolvers import register
from smoothpl.layout import OUTPUTS
from smoothpl.resume import find_same

USAGE = """python -m smoothpl.jobs [experiment=...] [knob=a,b ...]

Lists the jobs that `python -m smoothpl.train -m` with the same words would run:
which of them are finished already (resume=auto leaves them alone), and how
long the others take on one core, by the time of a step that is tried here.
  python -m smoothpl.jobs experiment=cifar10_40
  python -m smoothpl.jobs experiment=threshold benchmark=digits_40"""
TRIED_IMAGES = 64
"""At most, for the time of a step; that of a larger one is in proportion."""


class Job(NamedTuple):
    words: list[str]
    config: DictConfig
    status: str  # of the run that has been made of it, or none


def main() -> None:
    overrides, _ = read_words(USAGE)
    jobs = list_jobs(overrides)
    console = Console()
    console.print(tabulate(jobs))
    for line in estimate(jobs):
        console.print(line, markup=False, highlight=False)


def list_jobs(overrides: Sequence[str]) -> list[Job]:
    return [make_job(words) for words in expand(overrides)]


def expand(overrides: Sequence[str]) -> list[list[str]]:
    """The words of every job of a multirun with these words."""
    register()
    parser = OverridesParser.create()
    plain = [text for text in overrides if not parser.parse_override(text).is_sweep_override()]
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        hydra = compose("train", overrides=plain, return_hydra_config=True).hydra
    return expand_grid(hydra.sweeper.get("params") or {}, overrides)


def expand_grid(params: Mapping[str, Any], overrides: Sequence[str]) -> list[list[str]]:
    """As Hydra's own sweeper does it: the command line wins over the experiment's grid."""
    words = [*(f"{key}={value}" for key, value in params.items()), *overrides]
    (jobs,) = BasicSweeper.split_arguments(OverridesParser.create().parse_overrides(words), max_batch_size=None)
    return jobs


def make_job(words: list[str]) -> Job:
    config = compose_checked(words)
    found = find_same(config, Path(OUTPUTS))
    return Job(words, config, "" if found is None else found[0].status)


def tabulate(jobs: list[Job]) -> Table:
    varied = [index for index, _ in enumerate(jobs[0].words) if len({job.words[index] for job in jobs}) > 1]
    table = Table(title=f"{len(jobs)} jobs", title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("", justify="right")
    for index in varied:
        table.add_column(escape(jobs[0].words[index].partition("=")[0]))
    table.add_column("steps", justify="right")
    table.add_column("so far")
    for number, job in enumerate(jobs):
        values = [escape(job.words[index].partition("=")[2]) for index in varied]
        table.add_row(str(number), *values, str(job.config.max_steps), job.status or "-")
    return table


def estimate(jobs: list[Job]) -> list[str]:
    left = [job for job in jobs if job.status != "finished"]
    if not left:
        return ["All of them are finished."]
    known: dict[str, tuple[float, int]] = {}
    seconds, size = 0.0, 0
    for job in left:
        key = str((job.config.net, job.config.batch_size, job.config.unlabeled_ratio, job.config.views.learned))
        if key not in known:
            known[key] = try_step(job.config)
        seconds += known[key][0] * job.config.max_steps
        size += known[key][1]
    return [
        f"{len(left)} of {len(jobs)} are left: about {spell(seconds)} one after the other on one core of this machine, "
        f"evaluations not counted, and {size / 1e6:,.0f} MB on disk for their last checkpoints."
    ]


def try_step(config: DictConfig) -> tuple[float, int]:
    """Seconds of a step, by forward and backward on noise; bytes of a checkpoint: network, average, momentum."""
    import torch
    from torch.nn.functional import cross_entropy

    from smoothpl.build import build_module

    module = build_module(config)
    of_step = config.batch_size * (1 + config.unlabeled_ratio * (1 + (config.views.learned == "strong")))
    tried = min(of_step, TRIED_IMAGES)
    images = torch.rand(tried, config.data.channels, *[side_of(config)] * 2)
    images = images.contiguous(memory_format=torch.channels_last)
    torch.set_num_threads(1)  # so that time on the processor is what it takes, whatever else goes on
    times = []
    for _ in range(3):
        start = time.process_time()
        loss = cross_entropy(module.network(images), torch.zeros(tried, dtype=torch.long))
        loss.backward()  # type: ignore[no-untyped-call]
        times.append(time.process_time() - start)
    parameters = sum(each.numel() for each in module.network.parameters())
    return min(times) * of_step / tried, 3 * 4 * parameters


def side_of(config: DictConfig) -> int:
    """Pixels of an image that the network sees."""
    frame: Any = config.views.get("frame")
    if frame is not None:
        return int(frame.size)
    if "size" in config.data:
        return int(config.data.size)
    return {"digits": 8, "stl10": 96, "fashion_mnist": 28}.get(config.data.source._target_.rpartition(".")[2], 32)


def spell(seconds: float) -> str:
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"


if __name__ == "__main__":
    run_command(main)
