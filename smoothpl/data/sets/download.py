"""Downloads: one file, whole and as published, or none. A partial file is kept and resumed."""

import errno
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path

from filelock import FileLock
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from smoothpl.cli.messages import Terminal
from smoothpl.errors import ConfigError
from smoothpl.io.checksums import compare

CHUNK = 1 << 20
TRIES = 5
PAUSE = 1  # seconds
TIMEOUT = 30  # seconds without a byte
DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)


def download(url: str, path: Path, md5: str) -> None:
    """Puts the file at `path`, atomically. A second run that wants the same file waits for the first.

    torchvision downloads too, but starts over after every interruption and writes to the final name.
    """
    make_folder(path.parent)
    with locked(path.with_name(path.name + ".lock")):
        if path.exists():
            return compare(path, md5, "put another file there, or remove it to have it fetched")
        part = path.with_name(path.name + ".part")
        try:
            receive_all(url, part)
        except (OSError, HTTPException) as error:
            kept = f" The partial file {part} is kept and will be resumed." if part.exists() else ""
            raise ConfigError(
                f"{url} could not be fetched ({error}).{kept} Try again later; without a network, fetch the file "
                f"elsewhere and put it at {path}."
            ) from error
        try:
            compare(part, md5, "it was removed; try again")
        except ConfigError:
            part.unlink()
            raise
        part.replace(path)
    return None


def receive_all(url: str, part: Path) -> None:
    for rest in reversed(range(TRIES)):
        try:
            if receive(url, part):
                return
        except (OSError, HTTPException) as error:
            if not rest or isinstance(error, urllib.error.HTTPError) or getattr(error, "errno", None) in DISK_ERRORS:
                raise
        time.sleep(PAUSE)
    raise ConnectionError(f"the connection ended too early {TRIES} times")


def receive(url: str, part: Path) -> bool:
    """Appends to `part` what is missing; False if the connection ended before the file did."""
    done = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "smoothpl"} | ({"Range": f"bytes={done}-"} if done else {})
    try:
        response = urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        if done and error.code == 416:  # nothing is missing: interrupted between the last byte and the checksum
            return True
        raise
    with response, progress() as bars:
        continued = response.status == 206  # else the server starts from the beginning, and so do we
        done = done if continued else 0
        total = done + int(response.headers["Content-Length"]) if "Content-Length" in response.headers else None
        bar = bars.add_task(part.stem, total=total, completed=done)
        with part.open("ab" if continued else "wb") as file:
            while chunk := response.read(CHUNK):
                file.write(chunk)
                bars.advance(bar, len(chunk))
        return total is None or part.stat().st_size >= total


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lets other processes wait. The lock stays behind as an empty file: removing it would let two in at once."""
    try:
        lock = FileLock(path)
        lock.acquire()
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}; name a folder of your own as data.root.") from error
    try:
        yield
    finally:
        lock.release()


def progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    return Progress(*columns, console=Terminal(stderr=True))


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".smoothpl").touch()  # asks whether files can be made, which the mode bits do not always tell
        (folder / ".smoothpl").unlink(missing_ok=True)
    except OSError as error:
        raise ConfigError(
            f"data.root={folder}: {error.strerror}; name a folder that can be written to as data.root."
        ) from error
