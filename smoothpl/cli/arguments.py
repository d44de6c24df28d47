"""Arguments of the commands beside training: a few options of their own, and knobs or places."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from smoothpl.errors import require

PICTURES = (
    *(".png", ".svg", ".pdf", ".jpg", ".jpeg", ".webp", ".avif", ".gif", ".tif", ".tiff"),
    *(".eps", ".ps", ".svgz", ".pgf", ".raw", ".rgba"),
)
"""What Matplotlib writes."""


class Arguments(NamedTuple):
    """The options that a command has itself, and everything else that was typed."""

    options: dict[str, str]
    rest: list[str]

    def flag(self, name: str) -> bool:
        value = self.options.get(name, "false").lower()
        require(value in ("true", "false"), f"{name}={self.options.get(name)} must be true or false.")
        return value == "true"

    def number(self, name: str, default: int) -> int:
        text = self.options.get(name, str(default))
        require(text.isdecimal() and int(text) > 0, f"{name}={text} must be a positive whole number.")
        return int(text)

    def file(self, name: str, default: str) -> Path:
        """A file to write, in a folder that is there: a folder that nobody has may be a typing error."""
        out = Path(self.options.get(name, default)).expanduser()
        require(out.parent.is_dir(), f"{name}={out}: there is no folder {out.parent}; make it, or name another place.")
        require(not out.is_dir(), f"{name}={out} is a folder; name a file.")
        return out

    def picture(self, name: str, default: str) -> Path:
        out = Path(self.options.get(name, default)).expanduser()
        out = out if out.suffix else out.with_name(f"{out.name}.png")
        require(
            out.suffix.lower() in PICTURES,
            f"{name}={out} must be a picture, and end with one of {', '.join(PICTURES)}.",
        )
        return out


def read_arguments(typed: Sequence[str], usage: str, *options: str) -> Arguments:
    """`--help` prints `usage` and ends."""
    if "--help" in typed or "-h" in typed:
        sys.stdout.write(f"{usage}\n")
        sys.exit(0)
    own = [word for word in typed if word.partition("=")[0] in options and "=" in word]
    return Arguments(dict(word.split("=", 1) for word in own), [word for word in typed if word not in own])


def read_options(typed: Sequence[str], usage: str, *options: str, needed: Sequence[str] = ()) -> Arguments:
    """For a command that takes nothing but its own options, some of which it cannot do without."""
    arguments = read_arguments(typed, usage, *options)
    require(
        not arguments.rest,
        f"{arguments.rest[0] if arguments.rest else ''} is not an option of this command; its options are "
        f"{', '.join(f'{name}=' for name in options) or 'none'} (--help says more).",
    )
    missing = [f"{name}=..." for name in needed if name not in arguments.options]
    require(not missing, f"{' and '.join(missing)} must be given; --help says more.")
    return arguments
