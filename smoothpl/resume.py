"""Going on with a run that was cut short: which one, and whether it is still the same."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from smoothpl.errors import ConfigError
from smoothpl.recipe import plain, recipe_digest
from smoothpl.results.record import FILE_NAME, Record, read

AUTO = "auto"
OUTPUTS = "outputs"


def with_recorded_overrides(arguments: Sequence[str]) -> list[str]:
    """`resume=<run directory>` stands for all that was said on the command line of that run, and can be added to."""
    named = [each.partition("=")[2] for each in arguments if each.startswith("resume=")]
    if not named or named[-1] in (AUTO, "null", ""):
        return list(arguments)
    said_now = {key_of(each) for each in arguments}
    recorded = [each for each in open_run(Path(named[-1])).overrides if key_of(each) not in said_now]
    return [*recorded, *arguments]


def key_of(override: str) -> str:
    return override.lstrip("+~").partition("=")[0]


def open_run(run_dir: Path) -> Record:
    if not (run_dir / FILE_NAME).is_file():
        raise ConfigError(
            f"resume={run_dir} holds no run: it has no {FILE_NAME}; name the directory of a run, or auto."
        )
    return read(run_dir)


def find_run(config: DictConfig, fresh: Path) -> Path:
    """The directory to work in: the one named, the newest of the same recipe, fold and seed, or the fresh one."""
    if config.resume is None:
        return fresh
    if config.resume != AUTO:
        return Path(config.resume).resolve()
    pattern = f"**/*{recipe_digest(config)}/fold={config.fold},seed={config.seed}*/**/{FILE_NAME}"
    runs = [(read(path.parent), path.parent) for path in Path(OUTPUTS).resolve().glob(pattern)]
    if (fresh / FILE_NAME).is_file():  # hydra.run.dir=... said where
        runs.append((read(fresh), fresh))
    same = [(record.started, run_dir) for record, run_dir in runs if is_same_run(record, config)]
    return max(same)[1] if same else fresh


def is_same_run(record: Record, config: DictConfig) -> bool:
    of_record = (record.recipe, record.config["fold"], record.config["seed"])
    return of_record == (recipe_digest(config), config.fold, config.seed)


def check_same(record: Record, config: DictConfig) -> None:
    """Refuses to go on as another run than was begun."""
    allowed = tuple(config.resume_allow)
    differences = [
        f"{key}: {before} then, {now} now"
        for key, before, now in compare(record.config, plain(config))
        if not any(key == each or key.startswith(f"{each}.") for each in allowed)
    ]
    if differences:
        raise ConfigError(
            f"this is not the run that was begun: {'; '.join(differences)}. Leave these out, begin a new run, or name "
            "what may differ: resume_allow=[...]."
        )


def compare(before: Any, now: Any, key: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Every leaf that differs: its key, what it was, what it is."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name in sorted({*before, *now}):
            yield from compare(before.get(name), now.get(name), f"{key}.{name}" if key else str(name))
    elif before != now:
        yield key, before, now
