"""A label that somebody has given to an image."""

from typing import NamedTuple

LABELED, TEST = CLASSES = ("labeled", "test")
"""Folders that have a folder for each class."""


class Label(NamedTuple):
    file: str  # relative to the folder of images
    name: str
    is_test: bool
    where: str  # for messages
