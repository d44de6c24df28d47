"""Names in pictures are shown as they are."""

import sys
from collections.abc import Callable
from typing import Any

PLAIN: Any = {"text.parse_math": False}
"""A dollar in the name of a class is a dollar, also when the picture is drawn."""


def attempt(action: Callable[[], object]) -> None:
    """A picture is not worth a run."""
    try:
        action()
    except Exception as error:  # whatever it is
        sys.stderr.write(f"a picture could not be drawn ({error!r}); the run goes on without it.\n")
