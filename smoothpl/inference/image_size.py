"""The size of images that a trained network expects."""

from pathlib import Path

import smoothpl.data
from smoothpl.errors import ConfigError, require
from smoothpl.layout import RECORD
from smoothpl.record.record import Record

OWN = "smoothpl.data."


def image_side(record: Record, run_dir: Path) -> int:
    """Height and width of the square images of a run, in pixels."""
    height, width = record.image_size or of_older_record(record, run_dir)
    require(
        height == width,
        f"run={run_dir} was trained on images of {height} x {width} pixels; only square ones can be loaded.",
    )
    return height


def of_older_record(record: Record, run_dir: Path) -> tuple[int, int]:
    """Records up to schema 5 have no image_size: read from the configuration, if the data source is one of ours."""
    config = record.config
    frame = config["views"].get("frame")
    side = frame["size"] if frame else config["data"].get("size")
    target = config["data"]["source"]["_target_"]
    if side is None and target.startswith(OWN):
        side = getattr(getattr(smoothpl.data, target.removeprefix(OWN), None), "image_size", None)
    if side is None:
        raise ConfigError(
            f"run={run_dir}: {RECORD} was written by an older version and does not tell the size of the images of "
            f'{target}; add "image_size": [height, width] to it.'
        )
    return int(side), int(side)
