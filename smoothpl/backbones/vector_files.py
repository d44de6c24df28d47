"""Files of vectors: .npy, .safetensors and .parquet, none of them read before its vectors are asked for if possible."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from smoothpl.errors import ConfigError, require

FILE = "file"
"""The column of a table that names images."""
Numbers = np.ndarray[Any, np.dtype[np.int64]]


class VectorFile(NamedTuple):
    dims: tuple[int, ...]
    is_floating: bool
    rows: Callable[[Numbers], Tensor]
    files: list[str] | None = None  # where it names the images itself


def read_npy(place: Path, what: str) -> VectorFile:
    """Memory-mapped: as large as the disk."""
    try:
        array = np.load(place, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        # Without NumPy's reason, which advises to unpickle it.
        raise ConfigError(
            f"{what} is not an array of numbers that NumPy can read: it is damaged, or of another format; write it "
            "again with numpy.save(file, vectors)."
        ) from error
    return VectorFile(array.shape, array.dtype.kind == "f", lambda numbers: torch.from_numpy(array[numbers]))


def read_safetensors(place: Path, what: str) -> VectorFile:
    try:
        opened = import_module("safetensors").safe_open(place, framework="pt")
        names = list(opened.keys())
        tensor = opened.get_tensor(names[0]) if len(names) == 1 else None  # memory-mapped, too
    except ImportError as error:
        raise ConfigError(f"{what} needs safetensors: pip install 'smoothpl[export]'.") from error
    except Exception as error:  # its own class, which is not known without it
        raise ConfigError(f"{what} is not a file of safetensors ({error}); write it again, or as .npy.") from error
    if tensor is None:
        raise ConfigError(
            f"{what} must hold one tensor, the vectors of all images; it holds {', '.join(names) or 'none'}: save "
            "that tensor alone."
        )
    return VectorFile(
        tuple(tensor.shape), tensor.is_floating_point(), lambda numbers: tensor[torch.from_numpy(numbers)]
    )


def read_parquet(place: Path, what: str) -> VectorFile:
    """A column of lists is the vectors, and a column `file`, if there is one, names the images."""
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise ConfigError(f"{what} needs pyarrow: pip install 'smoothpl[parquet]'.") from error
    try:
        fields = parquet.read_schema(place)
        lists = [field.name for field in fields if is_list(arrow, field.type)]
        require(
            len(lists) == 1,
            f"{what} must have one column of vectors; it has {', '.join(lists) or 'none'}: write it with one column of "
            "lists of numbers.",
        )
        table = parquet.read_table(place, columns=[*lists, *({FILE} & {*fields.names})])
    except arrow.ArrowException as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ConfigError(f"{what} is not a file of Parquet ({reason}); write it again.") from error
    array = side_by_side(table.column(lists[0]).combine_chunks(), what)
    files = [str(name) for name in table.column(FILE).to_pylist()] if FILE in table.column_names else None
    return VectorFile(array.shape, array.dtype.kind == "f", lambda numbers: torch.from_numpy(array[numbers]), files)


def is_list(arrow: Any, kind: Any) -> bool:
    types = arrow.types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def side_by_side(column: Any, what: str) -> "np.ndarray[Any, Any]":
    """A column of N lists -> (N, length)."""
    flat = column.flatten()
    length = len(flat) // max(1, len(column))
    whole = column.null_count == 0 == flat.null_count and length * len(column) == len(flat)
    lengths = {*column.value_lengths().unique().to_pylist()} if whole and hasattr(column, "value_lengths") else {length}
    require(
        whole and lengths <= {length},
        f"{what} must hold vectors of one length, and none may be missing; make the others by the same network.",
    )
    found: np.ndarray[Any, Any] = flat.to_numpy(zero_copy_only=False).reshape(len(column), length)
    return found


READERS = {".npy": read_npy, ".safetensors": read_safetensors, ".parquet": read_parquet}
