"""docs/own_images.md, as a reader would follow it."""

import csv
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from smoothpl.record.record import read
from tests.support.own import pixels, save
from tests.support.processes import Done, Process

TUTORIAL = Path(__file__).parents[1] / "docs" / "own_images.md"
QUICK = ("max_steps=4", "batch_size=4", "pictures=false", "callbacks.progress=null")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.+?)```", TUTORIAL.read_text(), flags=re.DOTALL)


def photos(root: Path, labels: int = 5, number: int = 120) -> None:
    """Digits, the first few of each with a label."""
    seen = dict.fromkeys(range(10), 0)
    rows = ["file,label"]
    for which in range(number):
        save(root / f"{which:04}.png", which)
        digit = int(pixels()[1][which])
        seen[digit] += 1
        if seen[digit] <= labels:
            rows.append(f"{which:04}.png,digit {digit}")
    (root / "labels.csv").write_text("\n".join(rows) + "\n")


@pytest.mark.timeout(600)
def test_every_command_of_the_tutorial_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    photos(tmp_path / "photos")
    for command in (line for block in blocks("sh") for line in block.splitlines()):
        if "resume=" in command:
            add_labels(tmp_path)
        is_training = " smoothpl.train " in command and "resume=" not in command
        done = perform(command, QUICK if is_training else (), tmp_path)
        assert done.returncode == 0, (command, done.stderr)
    code = "".join([*blocks("python"), "print(probabilities.shape, len(labels), names)"])
    printed = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert printed.stdout.startswith('(1, 10) 2 ["digit 0", "digit 1"')
    first, second = read(tmp_path / "runs" / "first"), read(tmp_path / "runs" / "second")
    assert first.tested_on == "labeled images held out, part 0 of 5"
    assert [stage.num_labels for stage in second.label_history] == [50, 53]
    assert (tmp_path / "model.onnx").stat().st_size > 10_000
    assert "<title>first</title>" in (tmp_path / "card.html").read_text()
    assert len((tmp_path / "predictions.jsonl").read_text().splitlines()) == 120


def perform(command: str, further: tuple[str, ...], place: Path) -> Done:
    """A pipe by the shell, as it stands; all else in processes that have imported torch already."""
    if "|" in command:
        done = subprocess.run(command, shell=True, cwd=place, capture_output=True, text=True, check=False)
        return Done(done.returncode, done.stdout, done.stderr)
    words = [*shlex.split(command, comments=True), *further]
    module, *arguments = words[2:] if words[:2] == ["python", "-m"] else words
    return Process(module, *arguments, cwd=place).wait()


def add_labels(place: Path) -> None:
    """What somebody would have clicked."""
    with (place / "suggestions.csv").open(newline="") as file:
        suggested = [row["file"] for row in csv.DictReader(file)][:3]
    with (place / "photos" / "labels.csv").open("a") as file:
        file.writelines(f"{name},digit {pixels()[1][int(Path(name).stem)]}\n" for name in suggested)


def test_the_pictures_of_the_tutorial_are_there() -> None:
    names = re.findall(r"\]\((own_images/\S+)\)", TUTORIAL.read_text())
    assert names
    assert all((TUTORIAL.parent / name).is_file() for name in names)
