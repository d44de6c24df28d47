"""Names that cannot steer a terminal: those of files and classes may come from strangers."""

import re
from io import TextIOBase
from typing import TextIO

STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters except tab and line feed, marks that turn the direction of writing, and halves of characters."""


def printable(text: str) -> str:
    """The text with escapes, as in Python, for what a terminal would obey."""
    return STEERING.sub(lambda found: found.group().encode("unicode_escape").decode("ascii"), text)


class Escaping(TextIOBase):
    """A stream of text for a terminal, to which a table is written."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        return self.stream.write(printable(text))
