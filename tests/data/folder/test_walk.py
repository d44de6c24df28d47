import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from smoothpl.data.folder.walk import SUFFIXES, check_place, images_below, walk_folder
from smoothpl.errors import ConfigError
from tests.support.own import save, two_digits


def files_of(root: Path) -> list[str]:
    return [file for file, _ in images_below(root)]


def test_links_to_files_count_and_links_to_folders_or_nowhere_do_not(tmp_path: Path) -> None:
    outside, root = save(tmp_path / "outside" / "a.png", 0), tmp_path / "own"
    save(root / "b.png", 1)
    (root / "c.png").symlink_to(outside)
    (root / "folder.png").mkdir()
    save(root / "folder.png" / "d.png", 2)
    (root / "linked").symlink_to(tmp_path / "outside")
    (root / "linked.png").symlink_to(tmp_path / "outside")
    (root / "up").symlink_to(root)
    (root / "gone.png").symlink_to(root / "nothing")
    (root / "below a file.png").symlink_to(root / "b.png" / "x.png")
    (root / "circle.png").symlink_to(root / "circle.png")
    os.mkfifo(root / "pipe.png")
    assert [file for file, _ in images_below(root)] == ["b.png", "c.png", "folder.png/d.png"]


def test_the_state_of_a_link_is_that_of_its_file(tmp_path: Path) -> None:
    file = save(tmp_path / "a.png", 0)
    (tmp_path / "b.png").symlink_to(file)
    (tmp_path / "c.png").hardlink_to(file)
    states = dict(images_below(tmp_path))
    assert states["a.png"] == states["b.png"] == states["c.png"]
    save(file, 1)
    os.utime(file, ns=(1, 1))
    assert dict(images_below(tmp_path))["b.png"] != states["b.png"]


def refusing(refused: str, error: int) -> Any:
    scandir = os.scandir

    def list_folder(place: str | Path) -> Any:
        if Path(place).name == refused:
            raise OSError(error, os.strerror(error), os.fspath(place))
        return scandir(place)

    return list_folder


@pytest.mark.parametrize("error", [errno.EACCES, errno.ENOENT])
def test_a_folder_that_cannot_be_read_is_skipped_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: int
) -> None:
    root = two_digits(tmp_path)
    before = [file for file, _ in images_below(root)]
    save(root / "secret" / "x.png", 0)
    monkeypatch.setattr(os, "scandir", refusing("secret", error))
    assert [file for file, _ in images_below(root)] == before
    assert f"'{root}/secret' cannot be read ({os.strerror(error)}) and is skipped." in capsys.readouterr().err


def test_a_file_that_cannot_be_looked_at_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder whose names may be listed, but no more."""
    root = two_digits(tmp_path)
    file = str(root / "closed.png")

    class Closed:
        name, path = "closed.png", file

        def is_dir(self, follow_symlinks: bool) -> bool:
            return False

        def stat(self) -> None:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), self.path)

    @contextmanager
    def closed(_: object) -> Iterator[list[Closed]]:
        yield [Closed()]

    monkeypatch.setattr(os, "scandir", closed)
    with pytest.raises(ConfigError, match=r"closed\.png' cannot be read \(Permission denied\); correct its permissi"):
        images_below(root)


def test_what_is_skipped_is_named_with_its_number_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(tmp_path / "a.png", 0)
    for name in ("1.CR2", "2.cr2", "sub/3.pdf", "scan", "x.long ending"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    save(tmp_path / "outputs" / "first" / "run.png", 0)
    (tmp_path / "outputs" / "first" / "run.json").write_text("{}")
    (tmp_path / "more").symlink_to(tmp_path / "sub")
    (tmp_path / "gone.jpg").symlink_to(tmp_path / "nowhere.jpg")
    for _ in range(2):
        assert files_of(tmp_path) == ["a.png"]
    assert capsys.readouterr().err == (
        f"{tmp_path}: skipped 2 .cr2 (camera raw), 2 without a known ending, 1 .pdf; linked folders, which are not "
        "followed (1): 'more'; links that lead nowhere (1): 'gone.jpg'; folders that hold a run, with run.json (1): "
        "'outputs/first'. Convert camera raw, to JPEG or TIFF for example.\n"
    )


def test_companions_of_images_are_passed_over_without_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(tmp_path / "a.png", 0)
    for name in ("labels.csv", "notes.txt", "meta.json", "Thumbs.db", ".DS_Store", "desktop.ini", "README", "a.xmp"):
        (tmp_path / name).write_text("x")
    assert files_of(tmp_path) == ["a.png"]
    assert capsys.readouterr().err == ""


def test_many_kinds_are_summed_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(20):
        (tmp_path / f"x.a{number}").write_text("x")
    assert files_of(tmp_path) == []
    assert "1 .a" in (said := capsys.readouterr().err)
    assert "12 of other kinds" in said


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_known_ending_is_found_in_capitals_too(suffix: str, tmp_path: Path) -> None:
    for name in (f"a{suffix}", f"b{suffix.upper()}"):
        (tmp_path / name).write_text("x")
    assert files_of(tmp_path) == [f"a{suffix}", f"b{suffix.upper()}"]


def test_a_file_too_large_for_an_image_is_named_and_never_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(tmp_path / "a.png", 0)
    (tmp_path / "film.jpg").touch()
    os.truncate(tmp_path / "film.jpg", 10 * 2**30)  # sparse
    assert files_of(tmp_path) == ["a.png"]
    assert capsys.readouterr().err == f"{tmp_path}: skipped files of more than 1.1 GB (1): 'film.jpg'.\n"


def test_a_run_in_the_folder_itself_hides_no_image(tmp_path: Path) -> None:
    save(tmp_path / "a.png", 0)
    save(tmp_path / "sub" / "b.png", 0)
    for name in ("run.png", "pseudo_labels.png", "logs/x.png", "checkpoints/y.png"):
        save(tmp_path / name, 0)
    assert "run.png" in files_of(tmp_path)
    (tmp_path / "run.json").write_text("{}")
    assert files_of(tmp_path) == ["a.png", "sub/b.png"]


def test_names_that_would_steer_a_terminal_are_printed_with_escapes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "\x1b[2Jfolder").mkdir()
    (tmp_path / "\x1b[2Jlink").symlink_to(tmp_path / "\x1b[2Jfolder")
    (tmp_path / "x.\x1b[2J").write_text("x")
    walk = walk_folder(tmp_path)
    walk.tell()
    assert walk.links == ["\x1b[2Jlink"]
    assert "\x1b" not in (said := capsys.readouterr().err)
    assert "'\\x1b[2Jlink'" in said


@pytest.mark.parametrize(
    ("place", "is_refused"),
    [
        ("", True),
        ("pool", True),
        ("labeled/one/new", True),
        ("test", True),
        ("pool/new", False),
        ("outputs/new", False),
        ("../runs", False),
        ("..", False),
    ],
)
def test_a_run_is_not_written_among_images(place: str, is_refused: bool, tmp_path: Path) -> None:
    root = two_digits(tmp_path / "photos")
    (root / "link").symlink_to(root)
    for written in (root / place, root / "link" / place):
        if is_refused:
            with pytest.raises(ConfigError, match=r"hydra.run.dir=.* the folder of images .*name a place outside"):
                check_place("hydra.run.dir", str(written), root)
        else:
            check_place("hydra.run.dir", str(written), root)
