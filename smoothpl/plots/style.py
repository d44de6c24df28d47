"""What all pictures have in common: names are shown as they are, and no picture stops a run."""

import sys
from collections.abc import Callable
from typing import Any

PLAIN: Any = {"text.parse_math": False}
"""Settings of Matplotlib: a dollar in the name of a class is a dollar, also when the picture is drawn."""


def attempt(action: Callable[[], object]) -> None:
    """Draws a picture, or says why it cannot: no picture is worth a run."""
    try:
        action()
    except Exception as error:  # whatever it is
        sys.stderr.write(f"a picture could not be drawn ({error!r}); the run continues without it.\n")
