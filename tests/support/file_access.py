"""How often folders are listed and files looked at, for tests: what is slow where files lie on a network."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


class Entry:
    """An entry of a folder that counts how often its file is looked at."""

    def __init__(self, entry: os.DirEntry[str], looks: Counter[str]) -> None:
        self.entry = entry
        self.looks = looks

    def __getattr__(self, name: str) -> Any:
        if name == "stat" or (name == "is_file" and self.entry.is_symlink()):
            self.looks[self.entry.path] += 1
        return getattr(self.entry, name)


class FileAccess:
    """Counts listings of folders and looks at files, by path."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.listings: Counter[str] = Counter()
        self.looks: Counter[str] = Counter()
        self.scandir = os.scandir
        monkeypatch.setattr(os, "scandir", self.list_folder)
        for name in ("stat", "lstat"):
            monkeypatch.setattr(os, name, self.counted(getattr(os, name)))

    @contextmanager
    def list_folder(self, place: str | Path) -> Iterator[list[Entry]]:
        self.listings[os.fspath(place)] += 1
        with self.scandir(place) as entries:
            yield [Entry(entry, self.looks) for entry in entries]

    def counted(self, look: Any) -> Any:
        def look_at(path: Any, *args: Any, **more: Any) -> Any:
            if isinstance(path, str | os.PathLike):
                self.looks[os.fspath(path)] += 1
            return look(path, *args, **more)

        return look_at
