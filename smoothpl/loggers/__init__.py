"""Who is told what a run logs: its own curves first, then the mirrors that were asked for."""

from smoothpl.loggers.curves import Curves
from smoothpl.loggers.mirror import Mirror, mirrors_of

__all__ = ["Curves", "Mirror", "mirrors_of"]
