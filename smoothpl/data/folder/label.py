"""A label that somebody has given to an image."""

from typing import NamedTuple

TEST = "test"


class Label(NamedTuple):
    file: str  # relative to the folder of images
    name: str
    is_test: bool
    where: str  # for messages
