"""Parts of one's own: the files of docs/extending.md are written as they stand, and its commands are run."""

import re
import shlex
from pathlib import Path

import pytest

from smoothpl.record.record import Record, read_below
from tests.support.processes import Process

PAGE = (Path(__file__).parents[1] / "docs" / "extending.md").read_text()
FILES = re.findall(r"^`([\w./]+)`\n\n```(?:python|yaml)\n(.*?)```", PAGE, flags=re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"^python -m smoothpl\.train (.+)$", PAGE, flags=re.MULTILINE)
SHORT = ("max_steps=3", "eval_every=3", "batch_size=4", "pictures=false")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What the reader has who has copied all files; those with several parts grow."""
    for name, text in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        with (tmp_path / name).open("a") as file:
            file.write(f"\n{text}")
    return tmp_path


def trained(folder: Path, *words: str) -> dict[str, Record]:
    done = Process("smoothpl.train", *words, cwd=folder).wait()
    assert (done.returncode, done.stderr) == (0, "")
    return {record.config["method"]: record for record in read_below([folder]).values()}


def test_the_page_lists_its_files_and_has_them(folder: Path) -> None:
    made = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert made == {name for name, _ in FILES}
    listed = re.search(r"```\n(my_parts.*?)```", PAGE, flags=re.DOTALL)
    assert listed is not None
    assert {path.rpartition("/")[2] for path in made} == {
        line.strip().rpartition("/")[2] for line in listed[1].splitlines() if "." in line
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_page_trains(folder: Path, command: str) -> None:
    methods = re.findall(r"method=(\S+)", command) or ["smooth"]
    words = [word for word in SHORT if "stripes" not in command or not word.startswith("batch_size")]
    assert {*trained(folder, *shlex.split(command), *words)} == {*methods[0].split(",")}


def test_the_parts_are_those_of_the_page_and_only_a_threshold_that_was_typed_is_refused(folder: Path) -> None:
    words = ("--config-dir", "my_conf", "method=median_match", "policy.momentum=0.5", *SHORT)
    (record,) = trained(folder, *words).values()
    assert record.config["policy"] == {"_target_": "my_parts.Median", "momentum": 0.5}
    assert record.config["shape"] == {"_target_": "my_parts.Smoothstep"}
    typed = Process("smoothpl.train", "--config-dir", "my_conf", "policy=median", "threshold=0.9", cwd=folder).wait()
    assert typed.stderr == "threshold=0.9 has no effect: this policy finds its own; leave it out.\n"


def test_the_data_set_of_the_page_is_learned(folder: Path) -> None:
    words = ("--config-dir", "my_conf", "benchmark=stripes_20", "method=median_match", "max_steps=50")
    (record,) = trained(folder, *words, "pictures=false").values()
    assert record.class_names == ["across", "along"]
    assert record.image_size == [16, 16]
    assert record.error is not None
    assert record.error < 10
