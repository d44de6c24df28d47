"""Words that Hydra would not understand, or not as they were meant: mended where that is certain, else refused."""

import re
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from shlex import quote

from hydra.core.override_parser.types import ChoiceSweep, RangeSweep

from smoothpl.config.describe import groups, knobs, options
from smoothpl.config.knobs import TrainConfig
from smoothpl.config.overrides import CommandLine, is_sweep, key_of, quoted, reason_against, understood, value_of
from smoothpl.errors import ConfigError, require

PLACES = ("data.root", "data.labels", "net.weights", "net.init_from", "resume", "hydra.run.dir", "hydra.sweep.dir")
"""Keys whose values are files or folders, which may be called anything."""
NEEDED = ("callbacks", "data", "net", "optim", "split", "trainer", "views")
CURLY = str.maketrans("", "", "\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u201b\u00ab\u00bb")
MULTIRUN = {"-m", "--multirun"}
FLAGS = {
    *("--help", "-h", "--hydra-help", "--version", "--run", "-r", *MULTIRUN, "--resolve"),
    *("--cfg", "-c", "--info", "-i", "--package", "-p", "--experimental-rerun"),
    *("--shell-completion", "-sc", "--config-dir", "-cd", "--config-path", "-cp", "--config-name", "-cn"),
}
"""Hydra's."""


def readable(line: CommandLine) -> CommandLine:
    """The same with places quoted for Hydra; a word that nobody can understand is refused."""
    check_spaces(line.words)
    for flag in (each for each in line.flags if each.startswith("-")):
        check_flag(flag)
    words = [place_quoted(word) if key_of(word) in PLACES else none_named(word) for word in with_named_verdict(line)]
    for word in words:
        check_word(word)
    return line._replace(words=tuple(words))


def with_named_verdict(line: CommandLine) -> list[str]:
    """true and false become options, which Hydra wants as words; for images of one's own, true is to choose. So does an
    action that is typed alone."""
    is_own = "folder" in (line.get("data"), line.get("benchmark"))
    meant = {"true": "choose" if is_own else "tell", "false": "none"}
    alone = () if "verdict" in line.keys else ("verdict.action",)

    def named(word: str) -> str:
        options = word.partition("=")[2].split(",")
        return f"verdict={','.join(meant.get(each.strip().lower(), each) for each in options)}"

    return [named(word) if key_of(word) in ("verdict", *alone) and "=" in word else word for word in line.words]


def none_named(word: str) -> str:
    """null becomes none in groups that have this option; Hydra takes only words."""
    key, equals, text = word.partition("=")
    if not equals or key not in groups() or "none" not in options(key):
        return word
    return f"{key}={','.join('none' if each.strip().lower() == 'null' else each for each in text.split(','))}"


def check_flag(flag: str) -> None:
    """Settings of other programs begin with dashes."""
    name, bare = flag.partition("=")[0], flag.lstrip("-")
    # Python's parser takes long ones shortened, and the value of a short one attached to it.
    is_known = any(each.startswith(name) for each in FLAGS) or (name[1:2] != "-" and flag[:2] in FLAGS)
    is_knob = key_of(bare).partition(".")[0] in known_keys()
    require(
        is_known or not is_knob,
        f"{flag}: settings are typed without dashes, as key=value: {bare if '=' in bare else f'{bare}=...'}",
    )
    require(is_known, f"{flag} is not an option; --help lists what there is.")


def check_spaces(words: Sequence[str]) -> None:
    """Refuses method = smooth, and words that are no settings at all."""
    wrong = [word for word in words if not re.match(r"~|[^\s=]+=", word)]
    if wrong:
        spaced = re.search(r"(?<!\S)([^\s=]+)(?:\s+=\s*|=\s+)([^\s=]+)(?!\S)", " ".join(words))
        if spaced is not None:
            joined = "=".join(spaced.groups())
            raise ConfigError(f"{spaced[0]}: leave out the spaces around the equals sign: {joined}")
        raise ConfigError(f"{wrong[0]} is not a setting; {meant_by(wrong[0])}")


def meant_by(word: str) -> str:
    of_groups = [f"{group}={word}" for group in groups() if word in options(group)]
    if of_groups:
        return f"did you mean {' or '.join(of_groups)}?"
    if word in known_keys():
        return f"give it a value: {word}=..."
    return "settings are key=value, for example method=smooth."


def known_keys() -> set[str]:
    return {*groups(), *(knob.name for knob in knobs())}


def place_quoted(word: str) -> str:
    """A place that Hydra could not read, or would take for several values though it is there as it is."""
    key, _, text = word.partition("=")
    is_one_place = understood(word) is None or (is_sweep(word) and Path(text).expanduser().exists())
    return f"{key}={quoted(text)}" if is_one_place else word


def check_word(word: str) -> None:
    key, _, text = word.partition("=")
    plain = key.lstrip("~")
    require(
        not word.startswith("~") or plain not in {knob.name for knob in knobs()} - {*groups()},
        f"{word}: every run has a {plain}; give it another value, {plain}=..., or leave it as it is.",
    )
    require(
        not word.startswith("~") or plain not in NEEDED,
        f"{word}: no run can do without {plain}; use another one, {plain}=<option> (--help lists them).",
    )
    require(
        plain not in groups() or key != plain or value_of(word) is not None,
        f"{word}: {plain} is one of {', '.join(options(plain))}; ~{plain} leaves it out, where that is possible.",
    )
    reason = reason_against(word)
    if reason is not None:
        straight = text.translate(CURLY)
        require(text == straight, f"{word} has curly quotes; type straight ones, or none: {key}={straight}")
        spelled = quote(f"{key}={quoted(text)}")
        raise ConfigError(f"{word} cannot be read ({reason}); if this is the value as it is meant, quote it: {spelled}")
    override = understood(word)
    is_range = override is not None and isinstance(override.value(), RangeSweep | ChoiceSweep)
    require(
        override is None or not is_range or any(True for _ in override.sweep_iterator()),
        f"{word} is an empty range: there would be nothing to run; use for example {key}=range(6), for 0 to 5.",
    )


def check_single(line: CommandLine, way_out: str = "give one, or add -m to run all of them") -> None:
    """Several values of a knob are a sweep, which has to be asked for."""
    whole = {each.name for each in fields(TrainConfig) if "int" in str(each.type) and "float" not in str(each.type)}
    for word in () if MULTIRUN & {*line.flags} else line.words:
        key, _, text = word.partition("=")
        decimal = None if key in whole else re.fullmatch(r"(\d+),(\d+)", text)
        advice = f"; a decimal number has a point: {key}={decimal[1]}.{decimal[2]}" if decimal else ""
        require(not is_sweep(word), f"{word} is several values: {way_out}{advice}.")
