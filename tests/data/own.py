"""Folders of one's own, for tests: real digits, as files."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from smoothpl.data import digits


@cache
def pixels() -> tuple[Any, Any]:
    train = digits().train
    return train.images.squeeze(1).numpy(), train.labels.numpy()  # type: ignore[attr-defined]


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
