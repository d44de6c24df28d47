"""A run has its directory for itself, and leaves its record there, whatever happens."""

import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic

from filelock import FileLock, Timeout

from smoothpl.errors import ConfigError
from smoothpl.layout import LOCK, RECORD
from smoothpl.record.record import Record, to_json, write


@contextmanager
def hold(run_dir: Path) -> Iterator[None]:
    """No two processes work in one directory; the lock of one that was killed is gone with it."""
    run_dir.mkdir(parents=True, exist_ok=True)
    lock = FileLock(run_dir / LOCK, blocking=False)
    try:
        lock.acquire()
    except Timeout:
        raise ConfigError(f"the run in {run_dir} is still running; wait for its end, or start another one.") from None
    with lock:
        try:
            yield
        finally:
            if not (run_dir / RECORD).exists():  # nothing was started
                (run_dir / LOCK).unlink(missing_ok=True)


@contextmanager
def recording(run_dir: Path, record: Record) -> Iterator[None]:
    """Leaves the record, whatever happens."""
    started = monotonic()
    try:
        yield
        record.status, record.failure = "finished", None
    except BaseException as error:
        record.status = "failed" if isinstance(error, Exception) else "interrupted"
        record.failure = "".join(traceback.format_exception_only(error)).strip()
        with suppress(OSError):  # a full disk: what went wrong first is raised
            write_with_time(run_dir, record, started)
        raise
    write_with_time(run_dir, record, started)


def write_with_time(run_dir: Path, record: Record, started: float) -> None:
    record.duration = round(record.time_before + monotonic() - started, 3)
    write(run_dir, record)


def check_free(run_dir: Path) -> None:
    """Refuses a directory that a run has claimed already."""
    if (run_dir / RECORD).exists():
        raise taken(run_dir)


def claim(run_dir: Path, record: Record) -> None:
    """Writes the first record, whole, and only where there is none."""
    draft = run_dir / f".{RECORD}.first"
    draft.write_text(to_json(record))
    try:
        os.link(draft, run_dir / RECORD)
    except FileExistsError:
        raise taken(run_dir) from None
    finally:
        draft.unlink()


def taken(run_dir: Path) -> ConfigError:
    return ConfigError(
        f"{run_dir} already holds a run, and a run is never overwritten; leave hydra.run.dir out, name a new "
        f"directory, or resume that run: resume={run_dir}."
    )
