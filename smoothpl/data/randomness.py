"""Randomness as a function, not a state: every draw belongs to a key, a stream and a step, and to nothing else."""

from enum import IntEnum

import numpy as np


class Stream(IntEnum):
    """Independent sources of chance. The numbers are part of every recorded run: append, never renumber."""

    FOLD = 0
    LABELED = 1
    UNLABELED = 2
    TEST = 3
    IMBALANCE = 4
    # Views in a bank of features: the key is the content of an image, the step the number of the view.
    STORED_WEAK = 5
    STORED_STRONG = 6
    # What some methods want besides: each has a stream of its own, so that it changes nothing for the others.
    WEAK2 = 7
    STRONG2 = 8
    MEDIUM = 9
    SIMCLR = 10
    LABELED_STRONG = 11
    TURN = 12
    MIX = 13
    NOISE = 14
    HEADS = 15
    BALANCE = 16
    STORED_MEDIUM = 17
    STORED_SIMCLR = 18
    DROPOUT = 20
    OTHERS = 21
    SIMCLR2 = 22
    # Which classes an open set knows, and which strangers it holds.
    STRANGERS = 24
    # Which training images test, where settings are chosen.
    CHOOSING = 25


def generator(key: int, stream: Stream, step: int = 0) -> np.random.Generator:
    """The generator of one step of one stream; `key` is the seed of a run, or the number of a fold.

    Philox is a counter, not a memory: any step is reached directly, in any process, in any order. The step sits in a
    high word of the counter, so that no two steps can run into each other.
    """
    return np.random.Generator(np.random.Philox(key=[key, stream], counter=[0, 0, step, 0]))
