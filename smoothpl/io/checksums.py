"""Are these the files that everybody else has? Each is read through once, and the answer is remembered."""

import hashlib
from pathlib import Path

from smoothpl.errors import ConfigError
from smoothpl.io.cache import recall, state_of


def verify(path: Path, md5: str) -> None:
    """Raises if the file is not the published one. What was found is kept in the cache, never beside the data."""
    recall("verified", [state_of(path)], lambda: compare(path, md5, "fetch it again"), md5)


def compare(path: Path, md5: str, way_out: str) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "md5").hexdigest()
    if found != md5:
        raise ConfigError(f"{path} is damaged or not the published file: its MD5 is {found}, not {md5}; {way_out}.")
