"""Files of labels: CSV, or the JSON of a labelling tool."""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Any, NamedTuple
from unicodedata import normalize
from urllib.parse import unquote

from smoothpl.errors import ConfigError, require
from smoothpl.io.csv_cells import unguarded

TEST = "test"


class Label(NamedTuple):
    file: str  # relative to the folder of images
    name: str
    is_test: bool
    where: str  # for messages


def read_labels(path: Path, files: Sequence[str]) -> list[Label]:
    """`files` are the images of the folder; a label for any other file is an error."""
    readers = {".csv": read_csv, ".json": read_json}
    if path.suffix.lower() not in readers:
        raise ConfigError(f"data.labels={path} must be a .csv (file,label) or the .json of a labelling tool.")
    try:
        return list(readers[path.suffix.lower()](path, files))
    except ConfigError:
        raise
    except OSError as error:
        raise ConfigError(
            f"data.labels={path} cannot be read ({error.strerror}); name a file, relative to data.root."
        ) from error
    except (ValueError, RecursionError, csv.Error) as error:  # bytes, numbers and brackets that nobody would write
        raise ConfigError(f"{path} cannot be read ({error}); it must be whole, and UTF-8.") from None


def read_csv(path: Path, files: Sequence[str]) -> Iterator[Label]:
    known = {*files}
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as lines:
        table = csv.DictReader(lines, strict=True)
        columns = table.fieldnames or []
        require(
            {"file", "label"} <= {*columns},
            f"{path} must start with a line that names its columns, file and label, and split if some images are for "
            f"testing; it starts with {','.join(columns)[:60] or 'nothing'}.",
        )
        for row in table:
            where = f"{path.name}, line {table.line_num}"
            name, part = (unguarded(row.get(column) or "").strip() for column in ("label", "split"))
            if not name:  # not labeled yet
                continue
            file = unguarded(row["file"] or "")
            require(
                is_unicode(name) and (is_unicode(file) or file in known),  # names of files need not be
                f"{path} cannot be read (line {table.line_num}): it must be UTF-8.",
            )
            require(part in ("", "train", TEST), f"{where}: split={part} must be train, test or empty.")
            yield Label(existing(file, known, where), name, part == TEST, where)


def read_json(path: Path, files: Sequence[str]) -> Iterator[Label]:
    content = json.loads(path.read_text(encoding="utf-8-sig"))
    if isinstance(content, dict) and {"images", "annotations", "categories"} <= content.keys():
        return read_coco(content, path, files)
    if isinstance(content, list) and all(isinstance(task, dict) and "data" in task for task in content):
        return read_label_studio(content, path, files)
    raise ConfigError(f"{path} is neither an export of Label Studio (JSON) nor in COCO's format.")


def read_coco(content: dict[str, Any], path: Path, files: Sequence[str]) -> Iterator[Label]:
    try:
        names = {category["id"]: str(category["name"]) for category in content["categories"]}
        places = {image["id"]: str(image["file_name"]) for image in content["images"]}
        pairs = [(each["image_id"], each["category_id"]) for each in content["annotations"]]
        found = [(places[image], names[category]) for image, category in dict.fromkeys(pairs)]
    except (KeyError, TypeError) as error:
        raise ConfigError(
            f"{path}: {error} is missing; images, annotations and categories must fit together."
        ) from None
    finder = Finder(files)
    for place, name in found:
        where = f"{path.name}, {place}"
        file = finder.look_for(place, where)
        require(file is not None, f"{where}: {place!r} is not an image below data.root.")
        assert file is not None
        yield Label(file, name, False, where)


def read_label_studio(tasks: list[dict[str, Any]], path: Path, files: Sequence[str]) -> Iterator[Label]:
    """The one choice of the last annotation of each task that was not cancelled."""
    finder = Finder(files)
    for number, task in enumerate(tasks):
        where = f"{path.name}, task {task.get('id', number)}"
        try:
            annotations = [each for each in task.get("annotations") or [] if not each.get("was_cancelled")]
            results = [each["value"].get("choices") or [] for last in annotations[-1:] for each in last["result"]]
            texts = [value for value in task["data"].values() if isinstance(value, str)]
        except (AttributeError, KeyError, TypeError) as error:
            raise ConfigError(f"{where} is not in the format of Label Studio ({error!r}).") from None
        choices = [str(choice) for result in results for choice in result]
        if choices:
            require(len(choices) == 1, f"{where}: an image must have one label, and has {', '.join(choices)}.")
            require(bool(texts), f"{where} does not say which image it is about.")
            found = [file for text in texts if (file := finder.look_for(text, where)) is not None]
            require(bool(found), f"{where}: {texts[0]!r} is not an image below data.root.")
            yield Label(found[0], choices[0], False, where)


class Finder:
    """Finds the image that a labelling tool means: by its path, or by its name alone if the tool keeps copies."""

    UPLOADED = re.compile(r"[0-9a-f]{8}-")  # what Label Studio puts before a name
    ELSEWHERE = re.compile(r"/data/upload/|[a-z0-9]+://")

    def __init__(self, files: Sequence[str]) -> None:
        self.files = {*files}
        self.by_name: dict[str, list[str]] = {}
        for file in files:
            self.by_name.setdefault(PurePosixPath(file).name, []).append(file)

    def look_for(self, place: str, where: str) -> str | None:
        path = unquote(place.partition("?d=")[2] or place)
        known = next((each for word in (place, path) for each in spellings(word) if each in self.files), None)
        if known is not None:
            return known
        name = PurePosixPath(path).name
        if name != path and not self.ELSEWHERE.match(path):  # a path that leads nowhere
            return None
        for candidate in (name, self.UPLOADED.sub("", name, count=1)):
            same = self.by_name.get(candidate, [])
            require(len(same) < 2, f"{where}: {candidate} could be {' or '.join(same[:2])}; use a CSV of paths.")
            if same:
                return same[0]
        return None


def existing(file: str, known: set[str], where: str) -> str:
    """`known` holds nothing from outside the folder, so that nothing outside can be named."""
    path = next((each for each in spellings(file) if each in known), file)
    require(path in known, f"{where}: {file!r} is not an image below data.root; paths are relative to it.")
    return path


def spellings(path: str) -> list[str]:
    """Spellings of the same path on other systems: Windows has other slashes, macOS other accents (NFD)."""
    return [normpath(each) for each in (path, path.replace("\\", "/"), normalize("NFC", path), normalize("NFD", path))]


def is_unicode(text: str) -> bool:
    """Whether the text was UTF-8: other bytes are read as surrogates."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)
