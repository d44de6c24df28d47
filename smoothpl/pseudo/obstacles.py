"""An obstacle: one reason why a loss is not continuously differentiable, with the way out."""

from typing import NamedTuple


class Obstacle(NamedTuple):
    """Each part of a method answers for its own."""

    why: str
    way_out: str  # for people; there may be several ways
    words: tuple[str, ...] = ()  # one of them, as it is added to the command line

    def __str__(self) -> str:
        return f"{self.why}: use {self.way_out}"


SHAPE_JUMPS = Obstacle("the shape jumps at the threshold", "shape=linear", ("shape=linear",))
"""Of whatever is held against a threshold."""
