"""The files that the backbones of a run are read from: a run that is used later needs the same ones."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from smoothpl.errors import require
from smoothpl.nets.weight_files import FILES


class RunFile(NamedTuple):
    knob: str  # of the backbone
    name: str  # as it was typed

    @property
    def place(self) -> Path:
        return Path(self.name).expanduser()


def files_of(encoder: Mapping[str, Any]) -> Iterator[RunFile]:
    """encoder: its part of a configuration. Weights may also be published ones."""
    for knob in ("path", "files", "weights"):
        name = encoder.get(knob)
        if isinstance(name, str) and (knob != "weights" or Path(name).suffix in FILES):
            yield RunFile(knob, name)


def check_files(encoders: Mapping[str, Any], run: str) -> None:
    """Before they are opened: whoever uses a run has not typed them. `run`: how it was named, key=value."""
    for encoder in encoders.values():
        for file in files_of(encoder):
            seen_from = "" if file.place.is_absolute() else f" (seen from {Path.cwd()})"
            require(
                file.place.is_file(),
                f"{run} was trained with backbone.{file.knob}={file.name}, which is not there any more{seen_from}; put "
                "the file back at that path, or train again.",
            )


def way_back(encoders: Mapping[str, Any], changed: list[str]) -> str:
    """What to do where backbones, by their names, have other weights than a run was trained with."""
    names = [file.name for name in changed for file in files_of(encoders[name])]
    if not names:
        return "install the version that it was trained with"
    return f"put the {'file' if len(names) == 1 else 'files'} back that it was trained with ({', '.join(names)})"
