"""Is this a record? Asked of every run.json before it is believed."""

from types import UnionType
from typing import Any, Union, get_args, get_origin

ALWAYS = {"schema", "config", "recipe", "status"}


def objection(written: Any, kinds: dict[str, Any], newest: int) -> str | None:
    """What is wrong with what was found in a file, if anything is; `kinds` are the types of a record's fields."""
    if not isinstance(written, dict) or not set(written) >= ALWAYS:
        return "is not a record of smoothpl"
    if written["schema"] not in range(1, newest + 1):
        return f"has schema {written['schema']}, and this version of smoothpl reads schemas 1 to {newest}"
    for name, value in written.items():
        if name not in kinds:
            return f"has a field that no record has: {name}"
        if not is_of_kind(value, kinds[name]):
            return f"is damaged: {name} is {str(value)[:40]!r}"
    return None


def is_of_kind(value: Any, kind: Any) -> bool:
    """As far as JSON can tell, and without looking at every number of a long list."""
    if kind is Any:
        return True
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return any(is_of_kind(value, each) for each in inner)
    if origin is list:
        return isinstance(value, list) and all(is_of_kind(each, inner[0]) for each in (*value[:1], *value[-1:]))
    if origin is dict:
        return isinstance(value, dict)
    if origin is tuple:
        return isinstance(value, list) and len(value) == len(inner)
    if hasattr(kind, "_fields"):
        return isinstance(value, dict) and set(value) <= set(kind._fields)
    return isinstance(value, (int, float) if kind is float else kind) and not isinstance(value, bool)
