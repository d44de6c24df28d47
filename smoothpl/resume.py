"""Going on with a run that was cut short: which one, and whether it is still the same."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from smoothpl.config.recipe import LATER, WATCHING, plain, recipe_digest
from smoothpl.errors import ConfigError
from smoothpl.growth import OF_GROWTH, Parent, more_labels
from smoothpl.layout import OUTPUTS, RECORD
from smoothpl.record.record import Record, read

AUTO = "auto"


def with_recorded_overrides(arguments: Sequence[str]) -> list[str]:
    """`resume=<run directory>` stands for all that was said on the command line of that run, and can be added to."""
    named = named_run(arguments)
    if named is None:
        return list(arguments)
    record = open_run(Path(named))
    now = [each for each in arguments if not each.startswith("resume=")]
    now += words_of_growth(record, now)
    said_now = {key_of(each) for each in now}
    recorded = [each for each in record.overrides if key_of(each) not in said_now]
    flags = [each for each in (*recorded, *now) if each in ("-m", "--multirun") or each.startswith("--config-dir=")]
    words = [each for each in (*now, *recorded) if each not in flags]  # argparse wants flags first
    return [*flags, *words, f"resume={quoted(named)}"]


def named_run(arguments: Sequence[str]) -> str | None:
    """The directory that `resume` names, if it does."""
    named = [each.partition("=")[2].strip("'") for each in arguments if each.startswith("resume=")]
    return named[-1] if named and named[-1] not in (AUTO, "null", "") else None


def words_of_growth(record: Record, arguments: Sequence[str]) -> list[str]:
    """What another num_labels means besides."""
    said = [each.partition("=")[2] for each in arguments if key_of(each) == "num_labels"]
    words = more_labels(record, said[-1]) if said else []
    said_too = {key_of(each): each.replace(" ", "") for each in arguments}
    meant = {key_of(each): each.replace(" ", "") for each in words}
    follows = sorted(key for key in meant.keys() & said_too.keys() if meant[key] != said_too[key])
    if follows:
        raise ConfigError(f"{', '.join(follows)} follows from the run that is resumed; leave it out.")
    return [each for each in words if key_of(each) not in said_too]  # a process that this one has started says so, too


def quoted(path: str) -> str:
    """For Hydra, to whom = and , in a value mean something."""
    escaped = path.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def key_of(override: str) -> str:
    return override.lstrip("+~").partition("=")[0]


def open_run(run_dir: Path) -> Record:
    if not (run_dir / RECORD).is_file():
        raise ConfigError(f"resume={run_dir} holds no run: it has no {RECORD}; name the directory of a run, or auto.")
    return read(run_dir)


def find_run(config: DictConfig, fresh: Path) -> Path:
    """The directory to work in: the one named, or the newest of the same recipe, fold and seed, or the fresh one.

    One that is unfinished comes first; where all are finished, the newest is left as it is. A finished run that is
    named with fewer labels than are wanted is a parent, and left as it is, too.
    """
    if config.resume is None:
        return fresh
    if config.resume == AUTO:
        found = find_same(config, Path(OUTPUTS), [fresh] if (fresh / RECORD).is_file() else [])
        return fresh if found is None else found[1]
    named = Path(config.resume).resolve()
    record = open_run(named)
    if is_parent(record, config):
        if fresh.resolve() == named:
            raise ConfigError(f"{fresh} already holds a run, and a run is never overwritten; name a new directory.")
        return fresh
    if record.status == "finished":
        check_same(record, config)
    return named


def is_parent(record: Record, config: DictConfig) -> bool:
    """Whether a run is complete, and another one that goes on from it is asked for."""
    before = [*record.config.get("labels_before", []), *record.config.get("labels_until_pause", [])]
    return record.status == "finished" and list(config.labels_before) == [*before, record.config["num_labels"]]


def goes_on(config: DictConfig, run_dir: Path) -> bool:
    """Whether the run in the directory that `find_run` chose is continued there."""
    is_meant = config.resume == AUTO or (
        config.resume is not None and Path(config.resume).resolve() == run_dir.resolve()
    )
    return is_meant and (run_dir / RECORD).is_file()


def find_parent(config: DictConfig) -> Parent | None:
    """The trained run that a new one goes on from, if it does."""
    if not config.labels_before:
        return None
    if config.resume in (None, AUTO):
        return look_for_parent(config)
    place = Path(config.resume).resolve()
    record = open_run(place)
    check_same(record, config, *OF_GROWTH)
    return Parent(record, place)


def look_for_parent(config: DictConfig) -> Parent:
    *earlier, before = config.labels_before
    wanted = deepcopy(config)
    wanted.num_labels, wanted.labels_before, wanted.labels_until_pause = before, earlier, []
    same = all_same(wanted, Path(OUTPUTS))
    finished = [each for each in same if each[0].status == "finished"]
    if not finished:
        state = f"that in {same[-1][1]} is {same[-1][0].status}" if same else "there is none"
        raise ConfigError(
            f"labels_before={list(config.labels_before)} goes on from a finished run of the same recipe with {before} "
            f"labels, fold={config.fold} and seed={config.seed} below {OUTPUTS}/, and {state}; make it first, with "
            f"num_labels={before} labels_before={earlier}, or name another: resume=<run directory>."
        )
    return Parent(*finished[-1])


def find_same(config: DictConfig, folder: Path, others: Sequence[Path] = ()) -> tuple[Record, Path] | None:
    """Of the runs below a folder, and in `others`, the one that has been made of this configuration."""
    same = all_same(config, folder, others)
    unfinished = [each for each in same if each[0].status != "finished"]
    return (unfinished or same)[-1] if same else None


def all_same(config: DictConfig, folder: Path, others: Sequence[Path] = ()) -> list[tuple[Record, Path]]:
    """The newest last."""
    pattern = f"**/fold={config.fold},seed={config.seed}*/**/{RECORD}"
    places = [*(path.parent for path in folder.resolve().glob(pattern)), *others]
    same = [(record, run_dir) for record, run_dir in readable(places) if is_same_run(record, config)]
    return sorted(same, key=lambda each: each[0].started)


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
        if not (key in LATER and not before and not now)  # a run of an earlier version does not know these knobs
        and not may_differ(key, written, (*WATCHING, *others, *config.resume_allow))
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
