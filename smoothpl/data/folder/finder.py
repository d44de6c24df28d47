"""From a path in a file of labels to the image it means: people and tools spell paths in many ways."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from posixpath import normpath
from unicodedata import normalize
from urllib.parse import unquote

from smoothpl.errors import require


class Finder:
    """Finds images by path: as it is written; as other systems spell it; without what leads to the folder; in other
    capitals; and by its name alone, if one image has that name.

    It knows nothing from outside the folder, so that nothing outside can be named.
    """

    UPLOADED = re.compile(r"[0-9a-f]{8}-")  # what Label Studio puts before a name
    ELSEWHERE = re.compile(r"/data/upload/|[a-z0-9]+://")

    def __init__(self, files: Sequence[str], root: Path) -> None:
        self.files = {*files}
        self.root = root.absolute().name
        self.by_path: dict[str, list[str]] = {}
        self.by_name: dict[str, list[str]] = {}
        self.by_folded_name: dict[str, list[str]] = {}
        for file in files:
            name = PurePosixPath(file).name
            self.by_path.setdefault(folded(file), []).append(file)
            self.by_name.setdefault(name, []).append(file)
            self.by_folded_name.setdefault(folded(name), []).append(file)

    def find(self, place: str, where: str) -> str | None:
        """The image that a path of a person means; `where` it stands, for messages."""
        spelled = list(self.spellings(place))
        known = next((each for each in spelled if each in self.files), None)
        if known is not None:
            return known
        for each in spelled:
            if found := only(self.by_path.get(folded(each), []), each, where):
                return found
        names = [each for each in spelled if "/" not in each]
        return next((found for name in names if (found := self.named(name, where)) is not None), None)

    def look_for(self, place: str, where: str) -> str | None:
        """The image that a labelling tool means, which may keep copies, by other names, elsewhere."""
        path = unquote(place.partition("?d=")[2] or place)
        for each in (place, path):
            if found := self.find(each, where):
                return found
        if not self.ELSEWHERE.match(path):  # a path that leads nowhere
            return None
        name = PurePosixPath(path).name
        candidates = (name, self.UPLOADED.sub("", name, count=1))
        return next((found for each in candidates if (found := self.named(each, where)) is not None), None)

    def named(self, name: str, where: str) -> str | None:
        return only(self.by_name.get(name) or self.by_folded_name.get(folded(name), []), name, where)

    def spellings(self, place: str) -> Iterator[str]:
        """Windows has other slashes, macOS other accents (NFD); and some paths begin above the folder."""
        for path in dict.fromkeys((place, place.strip())):
            slashed = path.replace("\\", "/")
            for each in (path, slashed, normalize("NFC", path), normalize("NFD", path)):
                yield normpath(each)
            parts = [part for part in slashed.split("/") if part not in ("", ".")]
            for at, part in enumerate(parts):
                if folded(part) == folded(self.root) and parts[at + 1 :]:
                    yield normpath("/".join(parts[at + 1 :]))


def only(same: Sequence[str], place: str, where: str) -> str | None:
    require(
        len(same) < 2, f"{where}: {place} could be {' or '.join(same[:2])}; write the path, relative to the folder."
    )
    return same[0] if same else None


def folded(path: str) -> str:
    """The same for paths that differ by capitals or accents' spelling only: a.JPG and a.jpg."""
    return normalize("NFC", path).casefold()
