"""Overrides, the words `key=value` of a command line: taken apart and put together here, and nowhere else."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, Self

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, QuotedString
from hydra.errors import HydraException

WITH_VALUE = (
    *("--cfg", "-c", "--info", "-i", "--package", "-p", "--experimental-rerun"),
    *("--config-dir", "-cd", "--config-path", "-cp", "--config-name", "-cn"),
)
"""Hydra's flags whose value may be the next word."""

OWN_FOLDER = ("--config-dir", "-cd")


class CommandLine(NamedTuple):
    """What was typed: flags, and overrides in their order. Later ones win."""

    flags: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    @classmethod
    def parse(cls, arguments: Sequence[str]) -> Self:
        flags: list[str] = []
        words: list[str] = []
        waits_for_value = False
        for each in arguments:
            is_flag = each.startswith("-") or (waits_for_value and "=" not in each)
            (flags if is_flag else words).append(each)
            waits_for_value = each in WITH_VALUE
        return cls(tuple(flags), tuple(words))

    @property
    def arguments(self) -> list[str]:
        """Flags first: Hydra's parser wants the overrides together."""
        return [*self.flags, *self.words]

    @property
    def words_to_compose(self) -> tuple[str, ...]:
        """For Hydra's compose(), which has no --config-dir: the folder of one's own YAML as a word."""
        folders = [
            flag.partition("=")[2] or after
            for flag, after in pairwise((*self.flags, ""))
            if flag.partition("=")[0] in OWN_FOLDER
        ]
        places = ",".join(quoted(f"file://{Path(folder).expanduser().absolute()}") for folder in folders)
        return (*self.words, f"hydra.searchpath=[{places}]") if places else self.words

    @property
    def keys(self) -> set[str]:
        return {*map(key_of, self.words)}

    def get(self, key: str) -> str | None:
        """The value of a key as Hydra understands it; None if it was not typed, or typed as null."""
        typed = [word for word in self.words if key_of(word) == key]
        return value_of(typed[-1]) if typed else None

    def without(self, *keys: str) -> Self:
        return self._replace(words=tuple(word for word in self.words if key_of(word) not in keys))

    def adding(self, values: Mapping[str, object]) -> Self:
        """At the end, in place of what was typed for the same keys."""
        added = (f"{key}={value}" for key, value in values.items())
        return self._replace(words=(*self.without(*values).words, *added))

    def completed_by(self, earlier: "CommandLine") -> Self:
        """With the words of an earlier command line for other keys."""
        flags = [flag for flag in earlier.flags if flag not in self.flags]
        words = [word for word in earlier.words if key_of(word) not in self.keys]
        return self._replace(flags=(*flags, *self.flags), words=(*self.words, *words))


def key_of(word: str) -> str:
    return word.lstrip("+~").partition("=")[0]


def value_of(word: str) -> str | None:
    """The value as Hydra understands it; the bare text of a sweep, or of what Hydra could not read."""
    override = understood(word)
    if override is None or override.is_sweep_override():
        return word.partition("=")[2]
    value = override.value()
    if value is None:
        return None
    return value.text if isinstance(value, QuotedString) else str(value)


def is_sweep(word: str) -> bool:
    override = understood(word)
    return override is not None and override.is_sweep_override()


def understood(word: str) -> Override | None:
    """None: a path with a comma, a quote, ..., which must be quoted for Hydra."""
    try:
        return OverridesParser.create().parse_override(word)
    except HydraException:
        return None


def reason_against(word: str) -> str | None:
    """Why Hydra does not understand a word; None if it does."""
    try:
        OverridesParser.create().parse_override(word)
    except HydraException as error:
        return str(error).splitlines()[0].partition(" expecting ")[0]
    return None


def quoted(text: str) -> str:
    """For Hydra, to whom = and , in a value mean something; it takes only backslashes before a quote in pairs."""
    escaped = re.sub(r"(\\*)('|$)", lambda found: found[1] * 2 + (r"\'" if found[2] else ""), text)
    return f"'{escaped}'"
