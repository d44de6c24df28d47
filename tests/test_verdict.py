"""The verdict as a user meets it: on a folder of one's own, in a sweep, stopped and continued."""

import signal
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest
import torch

from smoothpl.config.compose import compose_checked
from smoothpl.config.overrides import CommandLine
from smoothpl.record.record import Record, read
from smoothpl.run.command_line import complete
from smoothpl.run.training import train
from smoothpl.run.verdict import with_verdict
from tests.support.own import two_digits
from tests.support.processes import Process

CONF = Path(__file__).parent / "support" / "conf"
QUIET = ("callbacks.progress=null", "callbacks.coverage=null", "pictures=false", "logger=none")
SHORT = ("--config-dir", str(CONF), "backbone=pixels", *QUIET, "max_steps=3", "eval_every=3", "batch_size=4")


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def of_folder(run_dir: Path, root: Path, *words: str) -> Record:
    """A folder of one's own, as it is typed."""
    typed = ["--config-dir", str(CONF), "data=folder", f"data.root={root}", *QUIET, "max_steps=3", *words]
    request = complete(CommandLine.parse(typed))
    config = compose_checked(request.line.words_to_compose)
    return with_verdict(config, run_dir, train(config, run_dir, scan=request.scan), request.scan, monotonic())


def test_a_folder_without_test_images_is_judged_by_all_of_its_labels(tmp_path: Path) -> None:
    record = of_folder(tmp_path / "run", two_digits(tmp_path / "own", labels=8), "backbone=pixels", "verdict=choose")
    found = record.verdict
    assert found is not None
    assert found.compared == found.held_out
    parts = [read(place) for place in (tmp_path / "run" / "parts").iterdir()]
    assert sorted(part.config["fold"] for part in [record, *parts]) == [*range(found.num_parts)]
    assert found.compared.total == sum(part.num_test for part in [record, *parts]) == 16  # each label once
    assert found.tested_on == f"labeled images, each held out once, in {found.num_parts} parts"
    assert {part.recipe for part in parts} == {record.recipe}


def test_it_is_the_same_whether_runs_are_trained_together_or_one_after_the_other(tmp_path: Path) -> None:
    root, found = two_digits(tmp_path / "own", labels=8), []
    for number in (1, 2):
        torch.set_num_threads(number)
        try:
            found.append(of_folder(tmp_path / str(number), root, "backbone=pixels", "verdict=choose").verdict)
        finally:
            torch.set_num_threads(1)
    assert found[0] == found[1]
    assert found[0] is not None


def test_from_scratch_only_the_part_that_is_held_out_anyway_chooses(tmp_path: Path) -> None:
    root = two_digits(tmp_path / "own", labels=8)
    record = of_folder(tmp_path / "run", root, "backbone=none", "batch_size=4", "verdict=true")
    found = record.verdict
    assert found is not None
    assert not (tmp_path / "run" / "parts").exists()
    assert found.num_parts == 1
    assert found.held_out == found.compared
    assert found.compared.total == record.num_test < 16
    assert found.tested_on == record.tested_on


def test_in_a_folder_with_test_images_these_are_told_of_and_labels_choose(tmp_path: Path) -> None:
    root = two_digits(tmp_path / "own", labels=3, test=5)
    found = of_folder(tmp_path / "run", root, "backbone=pixels", "verdict=true").verdict
    assert found is not None
    assert found.held_out is not None
    assert (found.compared.total, found.held_out.total, found.num_parts) == (10, 6, 5)


def test_in_a_sweep_every_run_has_its_verdict_and_the_report_counts_no_other_run(tmp_path: Path) -> None:
    done = Process("smoothpl.train", "-m", *SHORT, "fold=0,1", "verdict=true", cwd=tmp_path).wait()
    assert done.returncode == 0, done.stderr
    assert "the unlabeled images helped in " in " ".join(done.stdout.split())
    (page,) = tmp_path.rglob("report.md")
    assert "2 runs, 2 of them finished" in page.read_text()
    assert len([*tmp_path.rglob("labels_only/run.json")]) == 2


LONGER = (*SHORT, "max_steps=12", "num_labels=20", "verdict=choose")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Record, str]:
    run_dir = tmp_path_factory.mktemp("undisturbed") / "run"
    done = Process("smoothpl.train", *LONGER, f"hydra.run.dir={run_dir}", cwd=run_dir.parent).wait()
    assert done.returncode == 0, done.stderr
    return read(run_dir), done.stdout


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_verdict_that_is_stopped_is_continued_and_comes_out_the_same(
    tmp_path: Path, undisturbed: tuple[Record, str], how: signal.Signals
) -> None:
    process = Process("smoothpl.train", *LONGER, f"hydra.run.dir={tmp_path / 'run'}", cwd=tmp_path)
    process.wait_until((tmp_path / "run" / "parts" / "1" / "run.json").is_file)
    process.send(how)
    assert process.wait().returncode != 0
    assert read(tmp_path / "run").status == "finished"
    done = Process("smoothpl.train", f"resume={tmp_path / 'run'}", cwd=tmp_path).wait()
    assert done.returncode == 0, done.stderr
    assert read(tmp_path / "run").verdict == undisturbed[0].verdict
    first = done.stdout.splitlines()[0]
    assert first.startswith(("The unlabeled images", "Cannot tell", "Handed over"))
    assert first in undisturbed[1]


def test_with_several_devices_it_is_refused_in_one_line(tmp_path: Path) -> None:
    done = Process("smoothpl.train", "verdict=true", "trainer=ddp", "trainer.devices=2", cwd=tmp_path).wait()
    assert done.returncode != 0
    assert "with trainer=ddp use verdict=none" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "outputs").exists()
