"""python -m benchmarks.report: a report over ten thousand made-up runs, its time and memory, and over a tenth of them.

Records have the size of real ones: the composed configuration, 210 evaluations, a confusion matrix.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.line import Line, show
from benchmarks.peak import peak_memory
from smoothpl.config.compose import compose_checked
from smoothpl.config.recipe import recipe_name
from smoothpl.record.record import Evaluation, new_record, to_json

MANY = 10_000
EVALUATIONS = 210
COURSES = 20
FOLD, SEED = 987_654_321, 123_456_789
"""Placeholders, replaced by the numbers of every run."""
METHODS = ("fixmatch", "smooth", "flexmatch", "uda")
THRESHOLDS = (0.85, 0.9, 0.95, 0.98)


def lines() -> Iterator[Line]:
    seconds, memory = [], []
    with TemporaryDirectory() as folder:
        for number in (MANY // 10, MANY):
            place = Path(folder) / str(number)
            make_up(place, number)
            command = [sys.executable, "-m", "benchmarks.report", str(place)]
            printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            seconds.append(float(printed.split()[-2]))
            memory.append(float(printed.split()[-1]))
    yield Line(f"a report over {MANY:,} runs", seconds[1], seconds[0], "s", f"over {MANY // 10:,}", limit=30)
    yield Line(f"its memory, {MANY:,} runs", memory[1], memory[0], "MB", f"over {MANY // 10:,}")


def make_up(folder: Path, number: int) -> None:
    """Writes records: every method at every threshold, with as many folds and seeds of each, and a few error curves."""
    chance = np.random.default_rng(0)
    recipes = [(method, threshold) for method in METHODS for threshold in THRESHOLDS]
    for which, (method, threshold) in enumerate(recipes):
        config = compose_checked([f"method={method}", f"threshold={threshold}"])
        record = new_record(config, recipe_name(config, f"threshold={threshold}"))
        record.status, record.num_test, record.class_names = "finished", 500, [str(c) for c in range(10)]
        record.config |= {"fold": FOLD, "seed": SEED}
        texts = []
        for _ in range(COURSES):
            errors = 10 + chance.standard_normal(EVALUATIONS)
            shares = [round(float(share), 4) for share in chance.random(10)]
            record.take_history(
                [Evaluation(5000 * step, float(error), [], shares) for step, error in enumerate(errors)]
            )
            record.confusion = chance.integers(50, size=(10, 10)).tolist()
            texts.append(to_json(record))
        first, last = number * which // len(recipes), number * (which + 1) // len(recipes)
        for run in range(first, last):
            fold, seed = (run - first) % 100, (run - first) // 100
            place = folder / f"{run:05}"
            place.mkdir(parents=True)
            text = texts[run % COURSES].replace(str(FOLD), str(fold)).replace(str(SEED), str(seed))
            (place / "run.json").write_text(text)


def measure(folder: Path) -> None:
    """Runs in a process of its own, whose memory is that of the report."""
    from smoothpl.results.output import save
    from smoothpl.results.report import Options, build_report
    from smoothpl.results.runs import find_runs

    start = time.monotonic()
    save(build_report(find_runs([folder]), Options()), folder / "report.html")
    seconds = time.monotonic() - start
    sys.stdout.write(f"{seconds:.1f} {peak_memory()}\n")


if __name__ == "__main__":
    measure(Path(sys.argv[1])) if len(sys.argv) > 1 else show(lines())
