"""python -m benchmarks.sweep: twelve short runs of digits on all cores, against one run alone."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.line import Line, show
from smoothpl.record.record import read

RUNS, STEPS = 12, 600


def lines() -> Iterator[Line]:
    cores = len(os.sched_getaffinity(0))
    launcher = ("hydra/launcher=joblib", f"hydra.launcher.n_jobs={cores}", "hydra.sweep.dir=sweep")
    with TemporaryDirectory() as folder:
        start = time.monotonic()
        train(folder, "-m", "method=fixmatch,smooth", f"fold=range({RUNS // 2})", *launcher)
        whole = time.monotonic() - start
        train(folder, "method=smooth", "hydra.run.dir=alone")
        alone = read(Path(folder) / "alone").duration
    assert alone is not None
    what = f"a sweep of {RUNS} runs of {STEPS} steps on {cores} cores, with its report"
    yield Line(what, whole, RUNS * alone / cores, "s", "one alone, times twelve", at_most=1.15)


def train(folder: str, *overrides: str) -> None:
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "smoothpl.train", *overrides, f"max_steps={STEPS}", "pictures=false"]
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)


if __name__ == "__main__":
    show(lines())
