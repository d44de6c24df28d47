"""Completion in a shell: what may be typed after smoothpl, from the command files and conf/, as a script."""

from dataclasses import fields
from pathlib import Path
from shlex import quote

from smoothpl.cli.commands import TRAIN, command_names, describe, usage_of
from smoothpl.cli.usage import bare_words, options_of, takes_knobs, takes_places
from smoothpl.config.describe import groups, knobs, options
from smoothpl.config.knobs import TrainConfig

SHELLS = ("bash", "zsh", "fish")
FLAGS = ["--help"]
FLAGS_OF_TRAIN = ["--help", "--multirun", "--cfg", "--info", "--config-dir"]
"""The most useful ones of Hydra."""
COMMAND = {
    "bash": "{name}",
    "zsh": "{both}",
    "fish": "complete -c smoothpl -n __fish_use_subcommand -f -a {name} -d {description}",
}
CASE = {
    "bash": "{name}) echo {words} ;;",
    "zsh": "{name}) found=({words}) ;;",
    "fish": "case {name}; string split ' ' -- '{words}'",
}
PLACES = {"bash": "{name}) has_places=1 ;;", "zsh": "{name}) has_places=1 ;;", "fish": "case {name}; return 0"}
"""How the lines of the tables look in each shell."""


def script(shell: str) -> str:
    text = (Path(__file__).parent / f"completion.{shell}").read_text(encoding="utf-8")
    tables = {
        "COMMANDS": [command_line(shell, name) for name in command_names()],
        "WORDS": [case(shell, name, words_of(name)) for name in command_names()],
        "VALUES": [case(shell, key, values) for key, values in known_values().items()],
        "PLACES": [PLACES[shell].format(name=name) for name in command_names() if has_places(name)],
    }
    for table, lines in tables.items():
        text = text.replace(f"    # {table}\n", "".join(f"    {line}\n" for line in lines))
    return text.rstrip("\n")


def command_line(shell: str, name: str) -> str:
    description = describe(name)
    both = quote(f"{name}:{description.replace(':', chr(92) + ':')}")
    return COMMAND[shell].format(name=name, description=quote(description), both=both)


def case(shell: str, name: str, words: list[str]) -> str:
    return CASE[shell].format(name=name, words=" ".join(words))


def words_of(command: str) -> list[str]:
    """What may be typed after a command; a key ends with "="."""
    if command == TRAIN:
        return [*FLAGS_OF_TRAIN, *run_keys()]
    usage = usage_of(command)
    keys = [f"{name}=" for name in options_of(usage)]
    return [*FLAGS, *bare_words(usage), *keys, *(run_keys() if takes_knobs(usage) else [])]


def has_places(command: str) -> bool:
    return command != TRAIN and takes_places(usage_of(command))


def run_keys() -> list[str]:
    """The keys of a run: plain knobs and groups."""
    return [f"{name}=" for name in sorted({*groups(), *(knob.name for knob in knobs())})]


def known_values() -> dict[str, list[str]]:
    """The values of every key that has only a few."""
    flags = {each.name: ["true", "false"] for each in fields(TrainConfig) if each.type is bool}
    own = {
        name: option.choices
        for command in command_names()
        if command != TRAIN
        for name, option in options_of(usage_of(command)).items()
        if option.choices
    }
    return own | flags | {group: options(group) for group in groups()}
