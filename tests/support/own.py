"""Folders of one's own, for tests: real digits, as files."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from smoothpl.data import digits
from smoothpl.data.folder.decoded import Decoded, decode_all, digests_of_files
from smoothpl.io.cache import state_of
from tests.support.images import in_memory


@cache
def pixels() -> tuple[Any, Any]:
    train = in_memory(digits().train)
    return train.images.squeeze(1).numpy(), train.labels.numpy()


def picture(number: int) -> Image.Image:
    return Image.fromarray(pixels()[0][number])


def numbers_of(digit: int) -> list[int]:
    found: list[int] = np.flatnonzero(pixels()[1] == digit).tolist()
    return found


def save(path: Path, number: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    picture(number).save(path)
    return path


def two_digits(root: Path, labels: int = 4, unlabeled: int = 12, test: int = 0) -> Path:
    """Zeros and ones: labeled/zero/, labeled/one/, pool/, and test/ if there is one."""
    for digit, name in enumerate(("zero", "one")):
        numbers = numbers_of(digit)
        for place, number in enumerate(numbers[: labels + unlabeled + test]):
            part = f"labeled/{name}" if place < labels else "pool" if place < labels + unlabeled else f"test/{name}"
            save(root / part / f"{number:04}.png", number)
    return root


def digests(paths: Sequence[Path]) -> list[str]:
    return digests_of_files(paths, [state_of(path) for path in paths])


def decode(paths: Sequence[Path]) -> Decoded:
    """At 8 x 8 pixels."""
    return decode_all(paths, digests(paths), 8)
