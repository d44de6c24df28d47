"""Are these the files that everybody else has? Each is read through once, and the answer is remembered."""

import hashlib
import zlib
from pathlib import Path

from smoothpl.errors import ConfigError
from smoothpl.io.cache import recall, state_of
from smoothpl.io.digests import AT_A_TIME


def verify(path: Path, md5: str) -> None:
    """Raises if the file is not the published one. What was found is kept in the cache, never beside the data."""
    recall("verified", [state_of(path)], lambda: compare(path, md5, "fetch it again"), md5)


def crc_of(path: Path) -> int:
    """A checksum against accidents; a file that has not changed since is not read again."""
    return recall("checksums", [state_of(path)], lambda: compute_crc(path))


def compute_crc(path: Path) -> int:
    found = 0
    with path.open("rb", buffering=0) as file:
        while part := file.read(AT_A_TIME):
            found = zlib.crc32(part, found)  # 3 GB in a second, where SHA-256 takes twice as long
    return found


def compare(path: Path, md5: str, way_out: str) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "md5").hexdigest()
    if found != md5:
        raise ConfigError(f"{path} is damaged or not the published file: its MD5 is {found}, not {md5}; {way_out}.")
