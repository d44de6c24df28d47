"""python -m benchmarks.start: from a command to its first step, or to an error message. Needs SMOOTHPL_DATA."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from tempfile import TemporaryDirectory
from typing import Any

from lightning import Callback

from benchmarks.line import Line, show
from benchmarks.setting import data_folder

TIMES = 3


class EndsAtFirstStep(Callback):
    """Ends the process when everything is ready."""

    def on_train_batch_end(self, *_: Any) -> None:
        os._exit(0)


def lines() -> Iterator[Line]:
    data_folder()
    yield Line("start to first step", first_step(), imports(), "s", "imports, reading the files", at_most=1.1)
    yield Line("--help", seconds_of("-m", "smoothpl.train", "--help"), None, "s", "", limit=1.5)
    refusal = seconds_of("-m", "smoothpl.train", "threshold=2", code=1)
    yield Line("an error in a knob", refusal, None, "s", "", limit=1.5)


def first_step() -> float:
    clock = "+callbacks.clock._target_=benchmarks.start.EndsAtFirstStep"
    with TemporaryDirectory() as folder:
        place = f"hydra.run.dir={folder}/${{now:%H-%M-%S-%f}}"
        return seconds_of("-m", "smoothpl.train", "benchmark=cifar10_40", "batch_size=2", clock, place)


def imports() -> float:
    """What any such program has to do."""
    reading = "[p.read_bytes() for p in pathlib.Path(os.environ['SMOOTHPL_DATA']).glob('cifar-10-batches-bin/*.bin')]"
    return seconds_of("-c", f"import os, pathlib, torch, lightning; {reading}")


def seconds_of(*arguments: str, code: int = 0) -> float:
    """The fastest of a few."""
    times = []
    for _ in range(TIMES):
        start = time.monotonic()
        done = subprocess.run([sys.executable, *arguments], check=False, capture_output=True)
        times.append(time.monotonic() - start)
        assert done.returncode == code, done.stderr
    return min(times)


if __name__ == "__main__":
    show(lines())
