"""What the documents tell people to type can be typed."""

import json
import re
import shlex
import tarfile
from pathlib import Path

import pytest

from benchmarks.line import Line
from benchmarks.line import to_markdown as line_by_line
from smoothpl import jobs
from smoothpl.cli.arguments import compose_checked
from smoothpl.results.render import to_markdown
from smoothpl.results.reporting import Options, build_report
from smoothpl.results.runs import find_runs

ROOT = Path(__file__).parents[1]


def table_of_experiments() -> list[tuple[str, int]]:
    text = (ROOT / "docs" / "experiments.md").read_text()
    return [(words, int(runs)) for words, runs in re.findall(r"`python -m smoothpl\.train -m (.+?)` \| (\d+) \|", text)]


@pytest.mark.parametrize(("words", "runs"), table_of_experiments())
def test_a_documented_experiment_has_the_runs_that_are_documented(
    words: str, runs: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SMOOTHPL_DATA", str(tmp_path))
    found = jobs.expand(shlex.split(words))
    assert len(found) == runs
    for job in (found[0], found[-1]):
        compose_checked(job)


def test_every_experiment_is_documented() -> None:
    named = {
        word.partition("=")[2] for words, _ in table_of_experiments() for word in words.split() if "experiment" in word
    }
    assert named == {path.stem for path in (ROOT / "conf" / "experiment").glob("*.yaml")}


@pytest.mark.parametrize(
    "path", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda path: path.name
)
def test_every_command_line_in_a_document_composes(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Those of smoothpl.train, but for ones with a place that only the reader knows (tests/test_own_images.py)."""
    monkeypatch.setenv("SMOOTHPL_DATA", str(tmp_path))
    lines = re.findall(r"^python -m smoothpl\.train (.+?)(?:  #.*)?$", path.read_text(), flags=re.MULTILINE)
    for line in lines:
        words = [word for word in shlex.split(line) if word != "-m" and not word.startswith("resume=outputs")]
        if not {"--help", "--config-dir", "data=folder"} & {*words} and not line.startswith("resume="):
            for job in jobs.expand(words)[:1]:
                compose_checked(job)


def test_the_tables_of_results_are_what_their_records_say(tmp_path: Path) -> None:
    with tarfile.open(ROOT / "docs" / "results" / "records.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    made = ""
    for folder in (tmp_path / "records").iterdir():
        made += "\n".join(map(to_markdown, build_report(find_runs([folder]), Options(), with_pictures=False).sheets))
    together = build_report(find_runs([tmp_path / "records"]), Options(duplicates="newest"), with_pictures=False)
    made += "\n".join(map(to_markdown, together.sheets))
    text = (ROOT / "docs" / "results.md").read_text()
    tables = re.findall(r"^### .+\n\n(?:\|.*\n)+", text, flags=re.MULTILINE)
    assert len(tables) >= 20
    for table in tables:
        assert table in made
    for name in re.findall(r"\]\((results/\S+)\)", text):
        assert (ROOT / "docs" / name).is_file()


def test_the_table_of_performance_is_what_was_measured() -> None:
    measured = json.loads((ROOT / "docs" / "performance" / "measured.json").read_text())
    lines = [Line(**{name: line[name] for name in Line._fields}) for line in measured["lines"]]
    text = (ROOT / "docs" / "performance.md").read_text()
    assert line_by_line(lines) in text
    assert measured["commit"][:7] in text
    for name in re.findall(r"\]\((performance/\S+)\)", text):
        assert (ROOT / "docs" / name).is_file()
