"""Photographs of a run: a few test images of every class, as they were predicted at its last evaluation."""

import base64
import json
import re
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image
from torch import Tensor

from smoothpl.io.atomic import write_text
from smoothpl.layout import PHOTOGRAPHS

MOST_CLASSES = 20
MOST_OF_A_KIND = 3
"""Right ones of a class, and as many wrong ones."""
SIDE = 96
"""Pixels of the longer side of a photograph, at most."""
MOST_BYTES = 2**23
DATA_URL = re.compile(r"data:image/(?:png|jpeg);base64,([A-Za-z0-9+/]+={0,2})")


class Photograph(NamedTuple):
    """A test image, with its true class and the predicted one."""

    true: int
    predicted: int
    confidence: float
    picture: str  # a data: URL

    @property
    def is_right(self) -> bool:
        return self.true == self.predicted


def write_photographs(run_dir: Path, photographs: Sequence[Photograph]) -> None:
    write_text(run_dir / PHOTOGRAPHS, json.dumps([each._asdict() for each in photographs]) + "\n")


def read_photographs(run_dir: Path, num_classes: int) -> list[Photograph]:
    """Those that are whole. A run of an earlier version has none, and neither has a file that is damaged."""
    path = run_dir / PHOTOGRAPHS
    try:
        found = json.loads(path.read_bytes()) if path.stat().st_size <= MOST_BYTES else []
    except (OSError, ValueError, RecursionError):
        return []
    written = found[: 2 * MOST_CLASSES * MOST_OF_A_KIND] if isinstance(found, list) else []
    return [Photograph(**each) for each in written if is_whole(each, num_classes)]


def is_whole(written: Any, num_classes: int) -> bool:
    if not isinstance(written, dict) or {*written} != {*Photograph._fields}:
        return False
    numbers = [written["true"], written["predicted"]]
    confidence = written["confidence"]
    return (
        all(type(number) is int and 0 <= number < num_classes for number in numbers)
        and isinstance(confidence, float | int)
        and 0 <= confidence <= 1
        and is_picture(written["picture"])
    )


def is_picture(url: Any) -> bool:
    """Whether a browser will show it, and nothing else than a small picture."""
    match = DATA_URL.fullmatch(url) if isinstance(url, str) else None
    if match is None:
        return False
    try:
        with Image.open(BytesIO(base64.b64decode(match[1], validate=True)), formats=("PNG", "JPEG")) as picture:
            if max(picture.size) > SIDE:
                return False
            picture.load()
    except Exception:  # Pillow has many names for a damaged file
        return False
    return True


def as_picture(pixels: Tensor) -> str:
    """(1 or 3, height, width) uint8 -> a data: URL; large images are made smaller."""
    values = pixels.permute(1, 2, 0).numpy()
    picture = Image.fromarray(values if values.shape[2] == 3 else values[:, :, 0])
    kind = "PNG" if max(picture.size) <= SIDE else "JPEG"  # few pixels are kept as they are
    picture.thumbnail((SIDE, SIDE))
    data = BytesIO()
    picture.save(data, kind)
    return f"data:image/{kind.lower()};base64,{base64.b64encode(data.getvalue()).decode()}"
