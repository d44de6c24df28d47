"""Going on with a run that was cut short: which one, and whether it is still the same."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from smoothpl.errors import ConfigError
from smoothpl.recipe import WATCHING, plain, recipe_digest
from smoothpl.results.record import FILE_NAME, Record, read

AUTO = "auto"
OUTPUTS = "outputs"


def with_recorded_overrides(arguments: Sequence[str]) -> list[str]:
    """`resume=<run directory>` stands for all that was said on the command line of that run, and can be added to."""
    named = [each.partition("=")[2].strip("'") for each in arguments if each.startswith("resume=")]
    if not named or named[-1] in (AUTO, "null", ""):
        return list(arguments)
    record = open_run(Path(named[-1]))
    now = [*(each for each in arguments if not each.startswith("resume=")), *more_labels(record, arguments)]
    said_now = {key_of(each) for each in now}
    recorded = [each for each in record.overrides if key_of(each) not in said_now]
    return [*recorded, *now, f"resume={quoted(named[-1])}"]


def more_labels(record: Record, arguments: Sequence[str]) -> list[str]:
    """What another num_labels means besides: a finished run is the parent of a new one, another goes on by itself."""
    said = [each.partition("=")[2] for each in arguments if key_of(each) == "num_labels"]
    before = record.config.get("num_labels")
    if not said or before is None or said[-1] == str(before):
        return []
    earlier = record.config.get("labels_before", [])
    if record.status == "finished":
        return [f"labels_before={[*earlier, before]}"]
    return [f"labels_before={earlier}", f"labels_at_start={record.config.get('labels_at_start') or before}"]


def quoted(path: str) -> str:
    """For Hydra, to whom = and , in a value mean something."""
    escaped = path.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def key_of(override: str) -> str:
    return override.lstrip("+~").partition("=")[0]


def open_run(run_dir: Path) -> Record:
    if not (run_dir / FILE_NAME).is_file():
        raise ConfigError(
            f"resume={run_dir} holds no run: it has no {FILE_NAME}; name the directory of a run, or auto."
        )
    return read(run_dir)


def find_run(config: DictConfig, fresh: Path) -> Path:
    """The directory to work in: the one named, or the newest of the same recipe, fold and seed, or the fresh one.

    One that is unfinished comes first; where all are finished, the newest is left as it is.
    """
    if config.resume is None:
        return fresh
    if config.resume != AUTO:
        named = Path(config.resume).resolve()
        return fresh if is_parent(open_run(named), config) else named
    found = find_same(config, Path(OUTPUTS), [fresh] if (fresh / FILE_NAME).is_file() else [])
    return fresh if found is None else found[1]


def is_parent(record: Record, config: DictConfig) -> bool:
    """Whether a run that was named is complete, and another one with more labels is asked for."""
    return record.status == "finished" and bool(config.num_labels != record.config["num_labels"])


def find_same(config: DictConfig, folder: Path, others: Sequence[Path] = ()) -> tuple[Record, Path] | None:
    """Of the runs below a folder, and in `others`, the one that has been made of this configuration."""
    pattern = f"**/fold={config.fold},seed={config.seed}*/**/{FILE_NAME}"
    places = [*(path.parent for path in folder.resolve().glob(pattern)), *others]
    same = [(record, run_dir) for record, run_dir in readable(places) if is_same_run(record, config)]
    unfinished = [each for each in same if each[0].status != "finished"]
    newest = sorted(unfinished or same, key=lambda each: each[0].started)
    return newest[-1] if newest else None


def readable(places: list[Path]) -> Iterator[tuple[Record, Path]]:
    """Leaves out records that are damaged or of another version: they are no reason not to begin a run."""
    for run_dir in places:
        with suppress(ConfigError):
            yield read(run_dir), run_dir


def is_same_run(record: Record, config: DictConfig) -> bool:
    of_record = (record.recipe, record.config["fold"], record.config["seed"])
    return of_record == (recipe_digest(config), config.fold, config.seed)


def check_same(record: Record, config: DictConfig, *others: str) -> None:
    """Refuses to go on as another run than was begun, but for what is allowed by name, and `others`."""
    written = OmegaConf.to_container(config)
    differences = [
        f"{key}: {before} then, {now} now"
        for key, before, now in compare(record.config, plain(config))
        if not may_differ(key, written, (*WATCHING, *others, *config.resume_allow))
    ]
    if differences:
        raise ConfigError(
            f"this is not the run that was begun: {'; '.join(differences)}. Leave these out, begin a new run, or name "
            "what may differ: resume_allow=[...]."
        )


def may_differ(key: str, written: Any, allowed: Sequence[str]) -> bool:
    """What is allowed by name, and what follows from it: trainer.max_steps from max_steps."""
    if any(key == each or key.startswith(f"{each}.") for each in allowed):
        return True
    for name in key.split("."):
        written = written.get(name) if isinstance(written, dict) else None
    return any(f"${{{each}}}" in str(written) for each in allowed)


def compare(before: Any, now: Any, key: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Every leaf that differs: its key, what it was, what it is."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name in sorted({*before, *now}):
            yield from compare(before.get(name), now.get(name), f"{key}.{name}" if key else str(name))
    elif before != now:
        yield key, before, now
