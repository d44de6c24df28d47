"""From what was typed to what Hydra composes: a resumed run repeats its command line, a folder chooses its knobs."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omegaconf import DictConfig

from smoothpl.cli.messages import inform
from smoothpl.config.checks.numbers import check_side
from smoothpl.config.compose import compose_checked
from smoothpl.config.folder_defaults import (
    benchmark_defaults,
    choose,
    sides_up_to,
    usual_side,
)
from smoothpl.config.overrides import CommandLine, is_sweep, key_of, quoted
from smoothpl.config.recipe import OF_COMMAND
from smoothpl.config.typed_words import check_single, readable
from smoothpl.errors import ConfigError, require
from smoothpl.record.companions import main_run_of
from smoothpl.record.record import Record
from smoothpl.record.trained import directory_of
from smoothpl.run.fast import settled
from smoothpl.run.more_labels import knobs_of_more_labels
from smoothpl.run.own_folder import chosen_backbone, facts_of, number, tell
from smoothpl.run.resume import AUTO, open_run

if TYPE_CHECKING:  # torch is imported late: refusing a typo must not take seconds
    from smoothpl.data.folder.scan import Scan
    from smoothpl.run.budget import Fit


class Request(NamedTuple):
    """A complete command line, and the folder that was looked at for it."""

    line: CommandLine
    scan: "Scan | None" = None

    def config(self) -> DictConfig:
        """For commands that look at what a run would do."""
        check_single(self.line, "give one")
        return compose_checked(self.line.words_to_compose)


def complete(line: CommandLine) -> Request:
    """What was typed, with all that follows from it."""
    line = readable(line)
    minutes, line = time_limit(line)
    named = named_run(line)
    if named is not None:
        return of_resumed_run(line, named)
    if "folder" in (line.get("data"), line.get("benchmark")) and "data.images_digest" not in line.keys:
        return of_folder(line, minutes)
    line = settled(line)
    if line.get("backbone") not in (None, "none"):
        say_enough(minutes)
        return Request(line)
    return Request(line if minutes is None else line.adding(untyped(line, fit(minutes, [line]).knobs)))


def time_limit(line: CommandLine) -> tuple[float | None, CommandLine]:
    """The value of `minutes`, and the line without it: it stands for other knobs."""
    text = line.get("minutes")
    rest = line.without("minutes")
    if text is None:
        return None, rest
    try:
        minutes = float(text)
    except ValueError:
        minutes = math.nan
    require(
        0 < minutes < math.inf, f"minutes={text} must be one number above 0, for example minutes=5; or leave it out."
    )
    require("max_steps" not in rest.keys, f"minutes={text} chooses max_steps; leave one of them out.")
    require(
        "resume" not in rest.keys,
        f"minutes={text} is for a new run; a resumed one takes max_time=hours:minutes:seconds.",
    )
    require(rest.get("trainer") != "ddp", f"minutes={text} is measured on one device; with trainer=ddp set max_steps.")
    return minutes, rest


def fit(minutes: float, lines: Sequence[CommandLine], scan: "Scan | None" = None) -> "Fit":
    from smoothpl.run.budget import fit_into

    return fit_into(minutes, lines, scan)


def named_run(line: CommandLine) -> str | None:
    """The directory that `resume` names, if it does."""
    named = line.get("resume")
    return None if named in (None, AUTO, "") else str(directory_of(named))


def of_resumed_run(line: CommandLine, named: str) -> Request:
    """`resume=<run directory>` stands for the command line of that run, to which more can be added."""
    record, main = open_run(Path(named)), main_run_of(Path(named).resolve())
    require(main is None, f"resume={named} stands beside another run, with which it is resumed: resume={main}.")
    typed = line.without("resume")
    scan = None
    if "num_labels" not in typed.keys and "images_digest" in (record.config.get("data") or {}):
        typed, scan = with_new_labels(typed, record)
    typed = with_label_history(typed, record)
    # Earlier versions recorded max_time.
    resumed = typed.completed_by(CommandLine.parse(record.overrides).without(*OF_COMMAND))
    return Request(resumed.adding({"resume": quoted(named)}), scan)


def with_new_labels(typed: CommandLine, record: Record) -> "tuple[CommandLine, Scan]":
    """Labels that were added to the folder since the run was started are learned from (smoothpl.run.more_labels)."""
    from smoothpl.data.folder.scan import scan_folder

    data = record.config["data"]
    check_places(typed, Path(typed.get("data.root") or data["root"]).expanduser())
    scan = scan_folder(typed.get("data.root") or data["root"], typed.get("data.labels") or data["labels"])
    changed = sorted({*scan.class_names} ^ {*record.class_names})
    if record.class_names and changed:
        raise ConfigError(
            f"data.root={scan.root} has other classes than this run: {', '.join(changed)}; a network cannot learn new "
            "ones. Correct their labels, or start a new run."
        )
    before, now = record.config["num_labels"], len(scan.label)
    if before == now and scan.labels_digest != data["labels_digest"]:
        raise ConfigError(
            f"data.root={scan.root} has as many labels as this run had, but different ones; what was learned cannot be "
            "unlearned. Start a new run."
        )
    added = {"num_labels": now, "data.labels_digest": scan.labels_digest} if now != before else {}
    return typed.adding(added), scan


def with_label_history(typed: CommandLine, record: Record) -> CommandLine:
    """What another num_labels means besides."""
    num_labels = typed.get("num_labels")
    meant = {} if num_labels is None else knobs_of_more_labels(record, num_labels)
    spelled = {key: str(value).replace(" ", "") for key, value in meant.items()}
    # A process that this one has started repeats them.
    conflicts = sorted(key for key in spelled if key in typed.keys and text_of(typed, key) != spelled[key])
    require(not conflicts, f"{', '.join(conflicts)} follows from the run that is resumed; leave it out.")
    return typed.adding({key: value for key, value in meant.items() if key not in typed.keys})


def text_of(line: CommandLine, key: str) -> str:
    """The text of a word, without spaces."""
    return [word.partition("=")[2] for word in line.words if key_of(word) == key][-1].replace(" ", "")


def of_folder(line: CommandLine, minutes: float | None = None) -> Request:
    """Adds what was not typed, and prints it."""
    from smoothpl.data.folder.scan import scan_folder

    root = line.get("data.root")
    if not root:
        raise ConfigError("data=folder must know where the images are; add data.root=<folder>.")
    for word in line.words:
        require(
            key_of(word) not in ("data.root", "data.labels", "data.size") or not is_sweep(word),
            f"{word}: one folder, and one size of its images, at a time; start a sweep for each.",
        )
    if "data.size" in line.keys:
        check_side(number(line, "data.size") or line.get("data.size"))  # before the folder is read
    absolute = Path(root).expanduser().absolute()
    check_places(line, absolute)
    scan = scan_folder(str(absolute), line.get("data.labels"))
    facts = facts_of(scan, divides="data.folds" not in line.keys, fold=number(line, "fold"))
    typed = line.adding({"data.root": quoted(str(absolute))})
    size = number(line, "data.size")
    backbone = chosen_backbone(line, facts)
    if backbone is not None:
        chosen = choose(facts, size, number(line, "max_steps"), backbone)
        say_enough(minutes)
    elif minutes is None:
        chosen = choose(facts, size, number(line, "max_steps"))
    else:
        sides = sides_up_to(usual_side(facts.shorter_sides)) if size is None else [size]
        choices = [choose(facts, side, None) for side in sides]
        typed = settled(typed, untyped(line, choices[0]))
        which, knobs = fit(minutes, [typed.adding(untyped(line, each)) for each in choices], scan)
        chosen = choices[which] | knobs
    chosen = untyped(line, chosen)
    tell(scan, chosen, facts)
    usual = benchmark_defaults()
    typed = typed.adding({key: value for key, value in chosen.items() if usual.get(key) != value})
    return Request(settled(typed), scan)


def say_enough(minutes: float | None) -> None:
    if minutes is not None:
        inform(f"minutes={minutes:g} is left out: a head on features has its number of steps, and needs less time.")


def untyped(line: CommandLine, chosen: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in chosen.items() if key not in line.keys}


def check_places(line: CommandLine, root: Path) -> None:
    from smoothpl.data.folder.walk import check_place

    for key in ("hydra.run.dir", "hydra.sweep.dir"):
        place = line.get(key)
        if place and "${" not in place:
            check_place(key, place, root)
