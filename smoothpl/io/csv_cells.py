"""Cells of a CSV that are safe to open in a spreadsheet."""

RISKY = ("=", "+", "-", "@", "\t", "\r")
"""What would be taken for a formula, at the beginning of a cell."""


def guarded(text: str) -> str:
    """For a cell of a CSV, which a spreadsheet must not take for a formula."""
    return f"'{text}" if text.startswith((*RISKY, "'")) else text


def unguarded(text: str) -> str:
    return text[1:] if text.startswith("'") and text[1:].startswith((*RISKY, "'")) else text
