"""Resuming: which run is continued, whether it is still the same, and how to continue one that was stopped."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from shlex import quote
from typing import Any

from hydra.conf import HydraConf
from omegaconf import DictConfig, OmegaConf

from smoothpl.config.checks.labels import labels_can_be_added
from smoothpl.config.overrides import key_of
from smoothpl.config.recipe import LATER, OF_COMMAND, WATCHING, plain, recipe_digest
from smoothpl.errors import ConfigError, Interruption, require
from smoothpl.layout import OUTPUTS, RECORD
from smoothpl.record.companions import main_run_of
from smoothpl.record.record import Record, new_record, read
from smoothpl.run.more_labels import OF_GROWTH, Parent

AUTO = "auto"


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
    """Whether a run is finished, and another one that starts from its weights is asked for."""
    before = [*record.config.get("labels_before", []), *record.config.get("labels_until_pause", [])]
    return record.status == "finished" and list(config.labels_before) == [*before, record.config["num_labels"]]


def is_continued(config: DictConfig, run_dir: Path) -> bool:
    """Whether the run in the directory that `find_run` chose is continued there."""
    is_meant = config.resume == AUTO or (
        config.resume is not None and Path(config.resume).resolve() == run_dir.resolve()
    )
    return is_meant and (run_dir / RECORD).is_file()


def find_parent(config: DictConfig) -> Parent | None:
    """The trained run whose weights a new one starts from, if it does."""
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
            f"labels_before={list(config.labels_before)} starts from a finished run of the same recipe with {before} "
            f"labels, fold={config.fold} and seed={config.seed} below {OUTPUTS}/, and {state}; train it first, with "
            f"num_labels={before} labels_before={earlier}, or name another: resume=<run directory>."
        )
    return Parent(*finished[-1])


def find_same(config: DictConfig, folder: Path, others: Sequence[Path] = ()) -> tuple[Record, Path] | None:
    """The run of this configuration among those below a folder, and in `others`."""
    same = all_same(config, folder, others)
    unfinished = [each for each in same if each[0].status != "finished"]
    return (unfinished or same)[-1] if same else None


def all_same(config: DictConfig, folder: Path, others: Sequence[Path] = ()) -> list[tuple[Record, Path]]:
    """All runs of this configuration; the newest comes last."""
    pattern = f"**/fold={config.fold},seed={config.seed}*/**/{RECORD}"
    found = (path.parent for path in folder.resolve().glob(pattern))
    places = [*(place for place in found if main_run_of(place) is None), *others]
    same = [(record, run_dir) for record, run_dir in readable(places) if is_same_run(record, config)]
    return sorted(same, key=lambda each: each[0].started)


def readable(places: list[Path]) -> Iterator[tuple[Record, Path]]:
    """Skips records that are damaged or of another version: they are no reason not to start a run."""
    for run_dir in places:
        with suppress(ConfigError):
            yield read(run_dir), run_dir


def first_record(config: DictConfig, name: str, overrides: Sequence[str]) -> Record:
    """The record of a run that starts, from scratch or from the weights of a parent."""
    record = new_record(config, name, overrides)
    parent = find_parent(config)
    if parent is not None:
        record.label_history = [*parent.stages, *record.label_history]
        record.labeled, record.labeled_as = parent.record.labeled, parent.record.labeled_as  # so far
    return record


def continued_record(config: DictConfig, run_dir: Path, name: str, overrides: Sequence[str]) -> Record:
    record = open_run(run_dir)
    if record.status != "finished":
        has_grown = config.num_labels != record.config["num_labels"] and bool(config.labels_until_pause)
        check_same(record, config, *(OF_GROWTH if has_grown else ()))
        check_backbones(record, config)
        record.name = name if has_grown else record.name
        record.config, record.recipe, record.overrides = plain(config), recipe_digest(config), list(overrides)
        record.failure = None
    return record


def check_backbones(record: Record, config: DictConfig) -> None:
    """A head that has learned from the vectors of some weights must not go on with those of others."""
    if config.backbone is None:
        return
    from smoothpl.backbones.build import digests_of
    from smoothpl.backbones.run_files import way_back

    found = digests_of(config.backbone)
    changed = [name for name, digest in found.items() if record.backbones.get(name, digest) != digest]
    require(
        not changed,
        f"backbone {', '.join(changed)} has other weights now than this run began with; "
        f"{way_back(dict(config.backbone.encoders), changed)}, or start a new run.",
    )


def typed_for(job: HydraConf) -> list[str]:
    """What was typed for the run, and not for this command only; with the folder of one's own YAML, if there is one."""
    folders = [each.path for each in job.runtime.config_sources if each.provider == "command-line"]
    knobs = [word for word in job.overrides.task if key_of(word) not in OF_COMMAND]
    return [*(f"--config-dir={Path(folder).resolve()}" for folder in folders), *knobs]


def how_to_continue(config: DictConfig, run_dir: Path, error: BaseException) -> str:
    by = f" by {error}" if str(error) else ""
    command = f"python -m smoothpl.train {quote(f'resume={run_dir}')}"
    wants_labels = isinstance(error, Interruption) and error.wants_labels
    if not wants_labels or not labels_can_be_added(config):
        return f"interrupted{by}; to resume: {command}"
    if "images_digest" in config.data:
        return f"interrupted{by}; to resume, with the labels that the folder has then: {command}"
    more = config.num_labels + config.data.num_classes
    return f"interrupted{by}; to resume with more labels: {command} num_labels={more}; without: {command}"


def is_same_run(record: Record, config: DictConfig) -> bool:
    of_record = (record.recipe, record.config["fold"], record.config["seed"])
    return of_record == (recipe_digest(config), config.fold, config.seed)


def check_same(record: Record, config: DictConfig, *others: str) -> None:
    """Refuses to continue a run with other settings, except those allowed by name, and `others`."""
    written = OmegaConf.to_container(config)
    differences = [
        f"{key} was {before}, is {now}"
        for key, before, now in compare(record.config, plain(config))
        if not (key in LATER and not before and not now)
        # a run of an earlier version does not know these knobs
        and not may_differ(key, written, (*WATCHING, *OF_COMMAND, "data.name", *others, *config.resume_allow))
    ]
    if differences:
        raise ConfigError(
            f"these settings differ from the resumed run: {'; '.join(differences)}. Leave them out, start a new run, "
            "or allow them: resume_allow=[...]."
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
