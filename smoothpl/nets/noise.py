"""Noise inside of a network, made on the device of a seed that the loader has drawn: the same bits on every rank.

A generator of the device would have to be seeded by the host, which would wait for the seed. So each number is a hash
of its seed, of the number of the draw, and of its place.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

BITS = 0xFFFFFFFF
FACTORS = (0x7FEB352D, 0x846CA68B - (1 << 32))  # negative, so that no product needs more than 63 bits
SHIFTS = (16, 15, 16)
FINE = 24
"""Bits that a number in float32 has."""


def mixed(numbers: Tensor) -> Tensor:
    """A hash of 32 bits (int64): a bijection, in which neighbours have nothing in common."""
    numbers = numbers & BITS
    for shift, factor in zip(SHIFTS, (*FACTORS, 1), strict=True):
        numbers = ((numbers ^ (numbers >> shift)) * factor) & BITS
    return numbers


def uniform(seed: Tensor, count: int, draw: int = 0) -> Tensor:
    """seed (n,) int64 -> (n, count) float32 in (0, 1); another `draw`, other numbers."""
    place = torch.arange(count, device=seed.device)
    keys = mixed(mixed(seed) + draw).unsqueeze(1)
    return ((mixed(mixed(place) ^ keys) >> (32 - FINE)).float() + 0.5) * 2.0**-FINE


def normal(seed: Tensor, dims: Sequence[int], draw: int = 0) -> Tensor:
    """seed (1,) int64 -> `dims`, of mean 0 and deviation 1 (Box and Muller)."""
    one, other = uniform(seed, 2 * math.prod(dims), draw).view(2, *dims)
    drawn: Tensor = (-2 * one.log()).sqrt() * (2 * math.pi * other).cos()
    return drawn
