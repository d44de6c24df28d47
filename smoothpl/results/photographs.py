"""Photographs on the card: for every class, test images that were recognised and some that were not."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from smoothpl.record.photographs import MOST_OF_A_KIND, Photograph, read_photographs


class Tile(NamedTuple):
    picture: str  # a data: URL
    caption: str
    description: str


class ClassTiles(NamedTuple):
    name: str
    right: list[Tile]
    wrong: list[Tile]


def photographs(places: Sequence[Path], class_names: Sequence[str]) -> list[ClassTiles]:
    """Those of all runs together, the most confident first; classes without any are left out."""
    found = [each for place in places for each in read_photographs(place, len(class_names))]
    found.sort(key=lambda each: -each.confidence)
    rows = []
    for number, name in enumerate(class_names):
        of_class = [each for each in found if each.true == number]
        tiles = [
            [tile(each, class_names) for each in of_class if each.is_right == is_right][:MOST_OF_A_KIND]
            for is_right in (True, False)
        ]
        rows += [ClassTiles(name, *tiles)] if of_class else []
    return rows


def tile(photograph: Photograph, names: Sequence[str]) -> Tile:
    percent = f"{100 * photograph.confidence:.0f} %"
    true, predicted = names[photograph.true], names[photograph.predicted]
    if photograph.is_right:
        return Tile(photograph.picture, percent, f"{true}, recognised ({percent})")
    return Tile(photograph.picture, f"{predicted} {percent}", f"{true}, taken for {predicted} ({percent})")
