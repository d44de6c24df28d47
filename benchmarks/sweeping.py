"""A sweep of a benchmark in a process of its own: one thread, what it says is kept, what is finished stays as it is."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

SAID = "said.txt"


class Done(NamedTuple):
    """Exit code, and CPU seconds."""

    code: int
    seconds: float

    def described(self, place: Path) -> str:
        return "done" if self.code == 0 else f"failed, see {place / SAID}"


def train_below(place: Path, words: Sequence[str]) -> Done:
    """Runs of these words; those that are finished stay as they are."""
    place.mkdir(parents=True, exist_ok=True)
    kept = (f"hydra.sweep.dir={place}", "resume=auto", "pictures=false", "callbacks.progress=null")
    command = [sys.executable, "-m", "smoothpl.train", "-m", *words, *kept]
    with (place / SAID).open("w") as said:
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        child = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, env=environment)
        _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return Done(child.returncode, used.ru_utime + used.ru_stime)
