import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pyarrow as arrow  # type: ignore[import-untyped]
import pytest
import torch
from pyarrow import parquet
from safetensors.torch import save_file

from smoothpl.backbones.vector_files import READERS, read_npy, read_parquet, read_safetensors
from smoothpl.errors import ConfigError

VECTORS = np.arange(12, dtype=np.float32).reshape(4, 3) / 7


def write_npy(place: Path) -> None:
    np.save(place, VECTORS)


def write_safetensors(place: Path) -> None:
    save_file({"vectors": torch.from_numpy(VECTORS)}, place)


def write_parquet(place: Path, kind: Any = None, vectors: Any = None, **more: Any) -> None:
    kind = kind or arrow.list_(arrow.float32())
    column = arrow.array([*VECTORS.tolist()] if vectors is None else vectors, kind)
    parquet.write_table(arrow.table({"embedding": column, "size": range(len(column)), **more}), place)


@pytest.mark.parametrize("write", [write_npy, write_safetensors, write_parquet])
def test_every_kind_of_file_gives_its_rows(write: Callable[[Path], None], tmp_path: Path) -> None:
    suffix = "." + write.__name__.removeprefix("write_")
    write(tmp_path / f"vectors{suffix}")
    found = READERS[suffix](tmp_path / f"vectors{suffix}", "here")
    assert (found.dims, found.is_floating, found.files) == ((4, 3), True, None)
    assert torch.equal(found.rows(np.array([2, 0, 2])), torch.from_numpy(VECTORS[[2, 0, 2]]))


def test_an_array_is_mapped_and_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load = Mock(wraps=np.load)
    monkeypatch.setattr(np, "load", load)
    np.save(tmp_path / "a.npy", VECTORS.astype(np.float16))
    assert read_npy(tmp_path / "a.npy", "here").rows(np.array([1])).dtype == torch.float16
    assert load.call_args.kwargs == {"mmap_mode": "r", "allow_pickle": False}


@pytest.mark.parametrize(
    "kind", [arrow.list_(arrow.float64()), arrow.large_list(arrow.float32()), arrow.list_(arrow.float32(), 3)]
)
def test_all_lists_of_parquet_are_vectors_and_a_column_names_the_files(kind: Any, tmp_path: Path) -> None:
    write_parquet(tmp_path / "a.parquet", kind, file=["d", "c", "b", "a"])
    found = read_parquet(tmp_path / "a.parquet", "here")
    assert (found.dims, found.files) == ((4, 3), ["d", "c", "b", "a"])
    assert torch.allclose(found.rows(np.arange(4)).float(), torch.from_numpy(VECTORS))


@pytest.mark.parametrize(
    "vectors", [[[1.0, 2.0], [3.0]], [[1.0], None], [[1.0, None], [2.0, 3.0]], [[1.0], [2.0, 3.0, 4.0]]]
)
def test_vectors_of_parquet_must_be_of_one_length(vectors: Any, tmp_path: Path) -> None:
    write_parquet(tmp_path / "a.parquet", vectors=vectors)
    with pytest.raises(ConfigError, match=r"^here must hold vectors of one length, and none may be missing; make"):
        read_parquet(tmp_path / "a.parquet", "here")


def test_there_must_be_one_tensor_and_one_column_of_vectors(tmp_path: Path) -> None:
    save_file({"a": torch.zeros(2, 2), "b": torch.zeros(2, 2)}, tmp_path / "a.safetensors")
    with pytest.raises(ConfigError, match=r"^here must hold one tensor, .* it holds a, b: save that tensor alone\.$"):
        read_safetensors(tmp_path / "a.safetensors", "here")
    write_parquet(tmp_path / "a.parquet", other=VECTORS.tolist())
    with pytest.raises(ConfigError, match=r"^here must have one column of vectors; it has embedding, other: write it"):
        read_parquet(tmp_path / "a.parquet", "here")


@pytest.mark.parametrize("suffix", READERS)
def test_what_cannot_be_read_is_refused_in_one_line(suffix: str, tmp_path: Path) -> None:
    (tmp_path / f"a{suffix}").write_text("hello")
    with pytest.raises(ConfigError, match=r"^here is not [^\n]*; write it again[^\n]*\.$"):
        READERS[suffix](tmp_path / f"a{suffix}", "here")


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([Path("x")], dtype=object), allow_pickle=True)
    with pytest.raises(ConfigError, match=r"^here is not an array of numbers that NumPy can read[^\n]*save") as refused:
        read_npy(tmp_path / "a.npy", "here")
    assert "pickle" not in str(refused.value)


@pytest.mark.parametrize(
    ("suffix", "package", "line"),
    [(".safetensors", "safetensors", r"smoothpl\[export\]"), (".parquet", "pyarrow", r"smoothpl\[parquet\]")],
)
def test_a_library_that_is_missing_is_named(
    suffix: str, package: str, line: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ConfigError, match=rf"^here needs {package}: pip install '{line}'\.$"):
        READERS[suffix](tmp_path / "a", "here")
