"""Real data for tests: CIFAR-10, and photographs of hands, in the folder that SMOOTHPL_DATA names."""

import os
from functools import cache
from pathlib import Path

import pytest

from smoothpl.data import Source, cifar10

ROOT = os.environ.get("SMOOTHPL_DATA", "")
needs_cifar10 = pytest.mark.skipif(
    not (Path(ROOT) / "cifar-10-batches-bin").is_dir() or not ROOT,
    reason="SMOOTHPL_DATA does not name a folder with cifar-10-batches-bin",
)
needs_photographs = pytest.mark.skipif(
    not (Path(ROOT) / "sign-digits").is_dir() or not ROOT,
    reason="SMOOTHPL_DATA does not name a folder with sign-digits",
)


def photographs() -> list[Path]:
    return sorted((Path(ROOT) / "sign-digits").glob("*/*"))


@cache
def real_cifar10() -> Source:
    return cifar10(ROOT)
