"""Callbacks: checkpoints, the averaged network, the record, collapse, coverage, purity, pictures and progress."""

from smoothpl.callbacks.checkpointer import Checkpointer
from smoothpl.callbacks.collapse import CollapseWatch
from smoothpl.callbacks.coverage import CoverageWatch
from smoothpl.callbacks.ema import EMA
from smoothpl.callbacks.gallery import Gallery
from smoothpl.callbacks.photographs import Photographs
from smoothpl.callbacks.progress import ProgressReport
from smoothpl.callbacks.purity import PurityWatch
from smoothpl.callbacks.recorder import Recorder

__all__ = [
    "EMA",
    "Checkpointer",
    "CollapseWatch",
    "CoverageWatch",
    "Gallery",
    "Photographs",
    "ProgressReport",
    "PurityWatch",
    "Recorder",
]
