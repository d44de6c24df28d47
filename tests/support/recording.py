"""A record as training opens it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from smoothpl.record.record import Record, new_record
from smoothpl.run.lock import claim, hold, recording
from tests.support.composing import composed

CONFIG = composed("fold=3", "seed=1")


@contextmanager
def opened(run_dir: Path, name: str = "recipe") -> Iterator[Record]:
    """As training does it."""
    record = new_record(CONFIG, name)
    with hold(run_dir):
        claim(run_dir, record)
        with recording(run_dir, record):
            yield record
