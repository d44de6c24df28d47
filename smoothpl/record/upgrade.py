"""Older records under today's names: what docs/record.md says of every schema, as code."""

from typing import Any

from smoothpl.config.overrides import key_of
from smoothpl.config.recipe import FORMER_NAMES

RENAMED_FIELDS = {"calibration": "equilibrium", "falls": "instability"}
"""By schema 6."""
NEW_NAMES = {former: new for new, former in FORMER_NAMES.items()}


def upgraded(written: Any) -> Any:
    """What was found in a file, with today's names if it is a record of schema 1 to 5; values stay as they are."""
    if not isinstance(written, dict) or written.get("schema") not in range(1, 6):
        return written
    fields = {RENAMED_FIELDS.get(name, name): value for name, value in written.items()}
    data = (fields.get("config") or {}).get("data")
    if isinstance(data, dict):
        data = renamed(data)
        if isinstance(data.get("source"), dict):
            data["source"] = renamed(data["source"])
        fields["config"] = {**fields["config"], "data": data}
    if isinstance(fields.get("overrides"), list):
        fields["overrides"] = [renamed_override(word) for word in fields["overrides"]]
    return fields


def renamed(part: dict[str, Any]) -> dict[str, Any]:
    return {NEW_NAMES.get(key, key): value for key, value in part.items()}


def renamed_override(word: Any) -> Any:
    for former, new in NEW_NAMES.items():
        if isinstance(word, str) and key_of(word) == f"data.{former}":
            return word.replace(f"data.{former}=", f"data.{new}=", 1)
    return word
