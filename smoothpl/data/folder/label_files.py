"""Files of labels: CSV, or the JSON of a labelling tool."""

import codecs
import csv
import re
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path

from smoothpl.data.folder.finder import Finder
from smoothpl.data.folder.label import TEST, Label
from smoothpl.data.folder.tool_exports import existing, read_json, refuse_regions
from smoothpl.errors import ConfigError, require
from smoothpl.io.csv_cells import unguarded

COLUMNS = ("file", "label", "split")
SEPARATORS = (",", ";", "\t")
STATED_SEPARATOR = re.compile(r"sep=(.)\s*", re.IGNORECASE)
"""The first line of some CSV files, for Excel."""
BOXES = ("xmin", "x_min", "bbox")
"""Columns of files that label parts of images."""


def read_labels(path: Path, files: Sequence[str], root: Path | None = None) -> list[Label]:
    """`files` are the images of the folder `root`; a label for any other file is an error."""
    readers = {".csv": read_csv, ".tsv": read_csv, ".txt": read_csv, ".json": read_json}
    if path.suffix.lower() not in readers:
        raise ConfigError(f"data.labels={path} must be a .csv (file,label) or the .json of a labelling tool.")
    finder = Finder(files, path.parent if root is None else root)
    try:
        return list(readers[path.suffix.lower()](path, finder))
    except ConfigError:
        raise
    except OSError as error:
        raise ConfigError(
            f"data.labels={path} cannot be read ({error.strerror}); name a file, relative to data.root."
        ) from error
    except (ValueError, RecursionError, csv.Error) as error:  # bytes, numbers and brackets that nobody would write
        raise ConfigError(f"{path} cannot be read ({error}); it must be whole, and UTF-8 or UTF-16.") from None


def read_csv(path: Path, finder: Finder) -> Iterator[Label]:
    table, skipped = open_table(path)
    for row in table:
        line = table.line_num + skipped
        where = f"{path.name}, line {line}"
        name, part = (unguarded(row.get(column) or "").strip() for column in ("label", "split"))
        if not name:  # not labeled yet
            continue
        file = unguarded(row["file"] or "")
        require(
            is_unicode(name) and (is_unicode(file) or file in finder.files),  # names of files need not be
            f"{path} cannot be read (line {line}): it must be UTF-8 or UTF-16.",
        )
        part = part.lower()
        require(part in ("", "train", TEST), f"{where}: split={part} must be train, test or empty.")
        yield Label(existing(finder.find(file, where), file, where), name, part == TEST, where)


def open_table(path: Path) -> "tuple[csv.DictReader[str], int]":
    """Finds the encoding, the separator and the columns, whose names may have capitals and spaces. -> the table, and
    the number of lines before it."""
    text = text_of(path.read_bytes())
    first, _, rest = text.partition("\n")
    stated = STATED_SEPARATOR.fullmatch(first)
    text = rest if stated else text
    head = next(iter(text.splitlines()), "")
    for separator in [stated.group(1)] if stated else SEPARATORS:
        columns = [name.strip().lower() for name in next(csv.reader([head], delimiter=separator), [])]
        if {"file", "label"} <= {*columns}:
            break
    else:
        raise ConfigError(
            f"{path} must start with a line that names its columns, file and label, and split if some images are for "
            f"testing; it starts with {head[:60] or 'nothing'}."
        )
    for name in COLUMNS:
        require(columns.count(name) < 2, f"{path} names the column {name} twice; rename one of them.")
    for name in BOXES:
        if name in columns:
            refuse_regions(path.name, name)
    spaced = f"{separator} " in head and separator != "\t"
    table = csv.DictReader(StringIO(text, newline=""), delimiter=separator, strict=True, skipinitialspace=spaced)
    next(table.reader)
    table.fieldnames = columns
    return table, 1 if stated else 0


def text_of(content: bytes) -> str:
    """UTF-8 or UTF-16, with or without a mark at the beginning; other bytes become surrogates."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16")
    if b"\0" in content[:2]:
        return content.decode("utf-16-be" if content[0] == 0 else "utf-16-le")
    return content.decode("utf-8-sig", errors="surrogateescape")


def is_unicode(text: str) -> bool:
    """Whether the text was UTF-8: other bytes are read as surrogates."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)
