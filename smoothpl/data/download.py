"""Images from the network: one file, whole and as published, or none. What arrived so far is kept and continued."""

import hashlib
import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path

from filelock import FileLock
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from smoothpl.errors import ConfigError

CHUNK = 1 << 20
TRIES = 5
TIMEOUT = 30  # seconds without a byte


def download(url: str, path: Path, md5: str) -> None:
    """Puts the file at `path`, atomically. A second run that wants the same file waits for the first.

    torchvision downloads too, but begins anew after every interruption and writes to the final name.
    """
    make_folder(path.parent)
    with FileLock(path.with_name(path.name + ".lock")):
        if path.exists():
            return
        part = path.with_name(path.name + ".part")
        try:
            for rest in reversed(range(TRIES)):
                try:
                    if receive(url, part):
                        break
                except (OSError, HTTPException) as error:
                    if not rest or isinstance(error, urllib.error.HTTPError):
                        raise
            else:
                raise ConnectionError("the connection ended too early")
        except (OSError, HTTPException) as error:
            raise ConfigError(
                f"{url} could not be fetched ({error}). What arrived is kept in {part} and will be continued; without "
                f"a network, fetch the file elsewhere and put it at {path}."
            ) from error
        with part.open("rb") as file:
            found = hashlib.file_digest(file, "md5").hexdigest()
        if found != md5:
            part.unlink()
            raise ConfigError(
                f"{url} is not the published file: its MD5 is {found}, not {md5}; it was removed. Try again."
            )
        part.replace(path)
        path.with_name(path.name + ".lock").unlink(missing_ok=True)


def receive(url: str, part: Path) -> bool:
    """Appends to `part` what is missing; False if the connection ended before the file did."""
    done = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"User-Agent": "smoothpl", "Range": f"bytes={done}-"} if done else {})
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        if done and error.code == 416:  # nothing is missing: interrupted between the last byte and the checksum
            return True
        raise
    with response, progress() as bars:
        continued = response.status == 206  # else the server begins at the beginning, and so do we
        done = done if continued else 0
        total = done + int(response.headers["Content-Length"]) if "Content-Length" in response.headers else None
        bar = bars.add_task(part.stem, total=total, completed=done)
        with part.open("ab" if continued else "wb") as file:
            while chunk := response.read(CHUNK):
                file.write(chunk)
                bars.advance(bar, len(chunk))
        return total is None or part.stat().st_size >= total


def progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    return Progress(*columns, console=Console(stderr=True))


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".smoothpl").touch()  # asks whether files can be made, which the mode bits do not always tell
        (folder / ".smoothpl").unlink(missing_ok=True)
    except OSError as error:
        raise ConfigError(
            f"data.root={folder}: {error.strerror}; name a folder that can be written to as data.root."
        ) from error
