"""The record of a run that can be used: what every command asks first, before it waits for torch."""

from pathlib import Path

from smoothpl.errors import ConfigError
from smoothpl.layout import LAST_CHECKPOINT, RECORD
from smoothpl.record.record import Record, read


def directory_of(run: str | Path) -> Path:
    """The directory of a run, also if its record or its last checkpoint was named."""
    place = Path(run).expanduser()
    return place.parent if place.name in (RECORD, LAST_CHECKPOINT) and not place.is_dir() else place


def trained(run_dir: Path) -> Record:
    if not (run_dir / RECORD).is_file():
        raise ConfigError(f"run={run_dir} is not a run: it has no {RECORD}; name the directory of a run.")
    record = read(run_dir)
    if not (run_dir / LAST_CHECKPOINT).is_file():
        raise ConfigError(
            f"run={run_dir} is {record.status} and has no {LAST_CHECKPOINT}: only a finished run can be used; continue "
            f"it: python -m smoothpl.train resume={run_dir}."
        )
    missing = [name for name in ("data", "net", "views") if name not in record.config]
    missing += [] if record.class_names else ["class_names"]
    if missing:
        raise ConfigError(f"run={run_dir}: {RECORD} has no {', '.join(missing)}; copy it again from where it was made.")
    return record


def handed_over(run_dir: Path) -> tuple[Path, Record]:
    """The run whose network is used, and where it is: the run that is named, or labels alone, if those were chosen."""
    record = trained(run_dir)
    if not record.handed_over:
        return run_dir, record
    chosen = run_dir / record.handed_over
    if not (chosen / RECORD).is_file():
        raise ConfigError(
            f"run={run_dir} hands over the network in {chosen}, which is not there; copy the whole directory of the "
            "run again from where it was made."
        )
    return chosen, trained(chosen)
