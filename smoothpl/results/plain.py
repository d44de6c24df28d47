"""Names in pictures are shown as they are."""

from typing import Any

PLAIN: Any = {"text.parse_math": False}
"""A dollar in the name of a class is a dollar, also when the picture is drawn."""
