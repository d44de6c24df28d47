import hashlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from smoothpl.data.sets import download as module
from smoothpl.data.sets.download import download
from smoothpl.errors import ConfigError
from tests.support.processes import SERVER, exit_codes
from tests.support.web import Web, serving

CONTENT = bytes(range(256)) * 4096  # 1 MB
MD5 = hashlib.md5(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSE", 0)


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "file.bin").write_bytes(CONTENT)
    with serving(tmp_path / "served") as server:
        yield server


def test_a_file_arrives_whole_and_nothing_else_is_left(web: Web, tmp_path: Path) -> None:
    download(web.url + "file.bin", tmp_path / "new" / "file.bin", MD5)
    assert (tmp_path / "new" / "file.bin").read_bytes() == CONTENT
    assert sorted(os.listdir(tmp_path / "new")) == ["file.bin", "file.bin.lock"]
    download(web.url + "file.bin", tmp_path / "new" / "file.bin", MD5)
    assert len(web.requests) == 1


def test_a_partial_download_is_resumed(web: Web, tmp_path: Path) -> None:
    (tmp_path / "file.bin.part").write_bytes(CONTENT[:300_000])
    download(web.url + "file.bin", tmp_path / "file.bin", MD5)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    assert web.requests == ["bytes=300000-"]


def test_a_server_that_cannot_resume_is_asked_for_everything(web: Web, tmp_path: Path) -> None:
    web.knows_ranges = False
    (tmp_path / "file.bin.part").write_bytes(b"x" * 300_000)
    download(web.url + "file.bin", tmp_path / "file.bin", MD5)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_a_download_that_was_whole_but_not_yet_checked_is_used(web: Web, tmp_path: Path) -> None:
    (tmp_path / "file.bin.part").write_bytes(CONTENT)
    download(web.url + "file.bin", tmp_path / "file.bin", MD5)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_a_connection_that_breaks_several_times_is_resumed(web: Web, tmp_path: Path) -> None:
    web.cut_after = 300_000  # of 1,048,576: four times
    download(web.url + "file.bin", tmp_path / "file.bin", MD5)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    assert len(web.requests) == 4


def test_what_arrived_is_kept_when_the_connection_breaks_too_often(web: Web, tmp_path: Path) -> None:
    web.cut_after = 1000
    with pytest.raises(
        ConfigError,
        match=r"could not be fetched .* 5 times.* The partial file .*file\.bin\.part is kept and will be resumed",
    ):
        download(web.url + "file.bin", tmp_path / "file.bin", MD5)
    assert (tmp_path / "file.bin.part").read_bytes() == CONTENT[: 1000 * module.TRIES]
    assert not (tmp_path / "file.bin").exists()


def test_another_file_than_the_published_one_is_removed(web: Web, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"not the published file: its MD5 is .*, not 123; it was removed; try again"):
        download(web.url + "file.bin", tmp_path / "file.bin", "123")
    assert not list(tmp_path.glob("file.bin*[!k]"))  # but for the lock


def test_a_file_that_is_not_there_is_asked_for_once(web: Web, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing\.bin could not be fetched \(HTTP Error 404"):
        download(web.url + "nothing.bin", tmp_path / "nothing.bin", MD5)
    assert len(web.requests) == 1


def test_without_a_network_the_way_out_is_named(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/file.bin"
    with pytest.raises(ConfigError, match=r"without a network, fetch the file elsewhere and put it at .*/file\.bin\."):
        download(url, tmp_path / "file.bin", MD5)


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"data\.root=.*; name a folder that can be written to"):
        download("http://127.0.0.1:1/x", tmp_path / "file" / "below" / "x", MD5)


def test_two_runs_that_start_at_once_fetch_it_once(web: Web, tmp_path: Path) -> None:
    both = [SERVER.Process(target=download, args=(web.url + "file.bin", tmp_path / "f", MD5)) for _ in range(2)]
    assert exit_codes(both) == [0, 0]
    assert (tmp_path / "f").read_bytes() == CONTENT
    assert len(web.requests) == 1


def test_a_full_disk_is_not_the_networks_fault(web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def disk_full(*_: object) -> bool:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "receive", disk_full)
    with pytest.raises(ConfigError, match=r"No space left on device\)\. Try again later"):
        download(web.url + "file.bin", tmp_path / "file.bin", MD5)


def test_a_lock_of_somebody_elses_is_named(tmp_path: Path) -> None:
    (tmp_path / "file.bin.lock").mkdir()
    with pytest.raises(ConfigError, match=r"file\.bin\.lock: .*; name a folder of your own as data\.root"):
        download("http://127.0.0.1:1/x", tmp_path / "file.bin", MD5)
