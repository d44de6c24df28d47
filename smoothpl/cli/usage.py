"""The usage of a command: the page that --help prints is also the list of its options, and there is no other."""

import re
from typing import NamedTuple

LINE = re.compile(r"^  (\w+)=(\S*)(?: {2,}(.*(?:\n {6,}\S.*)*))?$", flags=re.MULTILINE)
"""`  name=default   meaning`, which may continue on lines that are indented further."""
CHOICE = re.compile(r"(?:\w+, )*\w+ or \w+")


class Option(NamedTuple):
    default: str  # or a word in capitals for what is expected: DIR
    meaning: str

    @property
    def choices(self) -> list[str]:
        """The values it may have, if there are only a few: true and false, or those that its meaning starts with."""
        if self.default in ("true", "false"):
            return ["true", "false"]
        found = CHOICE.match(re.sub(r" \(.*?\)", "", self.meaning))
        words = re.split(r", | or ", found[0]) if found else []
        return words if self.default in words else []


def options_of(usage: str) -> dict[str, Option]:
    return {name: Option(default, " ".join(meaning.split())) for name, default, meaning in LINE.findall(usage)}


def takes_knobs(usage: str) -> bool:
    """Whether the settings of a run may be typed as well."""
    return "[knob=" in usage.partition("\n")[0]


def takes_places(usage: str) -> bool:
    """Whether directories may be typed as they are, without a key."""
    return " DIR..." in usage.partition("\n")[0]


def bare_words(usage: str) -> list[str]:
    """Words that may be typed as they are, without a key: bash|zsh|fish, [paper]."""
    _, _, *rest = usage.partition("\n")[0].split()
    return [word for each in rest for word in each.strip("[]").split("|") if word.isalpha() and word.islower()]
