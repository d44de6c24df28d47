"""python -m benchmarks.verdicts [folder]: does the verdict keep its promise on real images? A row per draw of labels.

Photographs of hands with 4 and with 20 labels a class, and CIFAR-10 with 4; 1,000 photographs are kept for the test,
the same for every draw. Runs are kept below the folder (outputs/verdicts), and those that are finished are not trained
again. Needs SMOOTHPL_DATA and the extra `backbone`.
"""

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import copyfile
from typing import NamedTuple

from benchmarks.setting import data_folder
from smoothpl.layout import LABELS_ONLY
from smoothpl.record.record import Record, read

DRAWS = range(3)
METHODS = ("fixmatch", "smooth")
BUDGETS = (4, 20)
"""Labels of each class of the photographs."""
TESTED = 100
"""Photographs of each class that are kept for the test."""


class Case(NamedTuple):
    """One draw of labels, and what trains on it."""

    data: str
    draw: int
    words: tuple[str, ...]


class Outcome(NamedTuple):
    """Errors on the test images, in percent, and what was handed over."""

    case: Case
    alone: Record
    run: Record

    @property
    def row(self) -> str:
        """Of a table in Markdown."""
        verdict = self.run.verdict
        assert verdict is not None
        chosen = self.alone if self.run.handed_over else self.run
        cells = [
            self.case.data,
            str(self.run.config["method"]),
            str(self.case.draw),
            f"{self.alone.error:.2f}",
            f"{self.run.error:.2f}",
            f"{verdict.gain:.2f} ({verdict.low:.2f}…{verdict.high:.2f})",
            f"{verdict.loss_alone:.3f}",
            f"{verdict.loss:.3f}",
            "labels alone" if self.run.handed_over else "the run",
            f"{chosen.error:.2f}",
        ]
        return f"| {' | '.join(cells)} |"


HEADING = (
    "| data | method | draw | labels alone | with unlabeled | gain (95 %) | held-out loss alone | with | handed over | "
    "its error |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: |"
)


def main(folder: Path) -> None:
    print_row(HEADING)
    for case in cases(folder):
        for method in METHODS:
            place = folder / "runs" / case.data.replace(",", "").replace(" ", "_") / f"{method}-{case.draw}"
            print_row(outcome(case, method, place).row)


def print_row(row: str) -> None:
    sys.stdout.write(f"{row}\n")
    sys.stdout.flush()


def cases(folder: Path) -> Iterator[Case]:
    source = Path(data_folder())
    for per_class in BUDGETS:
        for draw in DRAWS:
            root = folder / f"photographs-{per_class}" / str(draw)
            lay_out(source / "sign-digits", root, per_class, draw)
            yield Case(f"hands, {10 * per_class} labels", draw, ("data=folder", f"data.root={root}"))
    for fold in DRAWS:
        words = ("benchmark=cifar10_40", "backbone=efficientnet_lite0", f"data.root={source}", f"fold={fold}")
        yield Case("CIFAR-10, 40 labels", fold, words)


def lay_out(source: Path, root: Path, per_class: int, draw: int) -> None:
    """test/<class>, labeled/<class>, and the rest without its labels."""
    for folder in sorted(each for each in source.iterdir() if each.is_dir()):
        files = sorted(folder.iterdir())
        random.Random(f"test {folder.name}").shuffle(files)
        tested, others = files[:TESTED], sorted(files[TESTED:])
        random.Random(f"{draw} {folder.name}").shuffle(others)
        place(tested, root / "test" / folder.name, "")
        place(others[:per_class], root / "labeled" / folder.name, "")
        place(others[per_class:], root / "pool", f"{folder.name}-")


def place(files: list[Path], folder: Path, prefix: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        copyfile(file, folder / f"{prefix}{file.name}")


def outcome(case: Case, method: str, run_dir: Path) -> Outcome:
    words = (*case.words, f"method={method}", "verdict=choose", "resume=auto", f"hydra.run.dir={run_dir}")
    subprocess.run([sys.executable, "-m", "smoothpl.train", *words], check=True, capture_output=True)
    return Outcome(case, read(run_dir / LABELS_ONLY), read(run_dir))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "outputs/verdicts").absolute())
