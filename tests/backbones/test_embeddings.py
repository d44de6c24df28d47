import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as arrow  # type: ignore[import-untyped]
import pytest
import torch
from pyarrow import parquet

from smoothpl.backbones import Embeddings
from smoothpl.errors import ConfigError

NAMES = ["cats/1.png", "cats/2.png", "dogs/1.png", "dogs/ö 2.png"]
VECTORS = np.arange(12, dtype=np.float32).reshape(4, 3) / 7


@pytest.fixture
def place(tmp_path: Path) -> Path:
    np.save(tmp_path / "vectors.npy", VECTORS)
    (tmp_path / "names.txt").write_text("\n".join(NAMES) + "\n", encoding="utf-8")
    return tmp_path / "vectors.npy"


def listing(place: Path, kind: str) -> Path:
    """The names in the ways in which people keep them."""
    found = place.with_name(f"names{kind}")
    texts = {
        ".txt": "\n".join(NAMES),
        ".json": json.dumps(NAMES),
        ".csv": "id,file\n" + "\n".join(f'{number},"{name}"' for number, name in enumerate(NAMES)),
        ".lst": "\ufeff" + "\r\n".join("./" + name.replace("/", "\\") for name in NAMES) + "\r\n\r\n",
    }
    found.write_text(texts[kind], encoding="utf-8", newline="")
    return found


@pytest.mark.parametrize("kind", [".txt", ".json", ".csv", ".lst"])
def test_vectors_are_found_by_the_names_of_files(kind: str, place: Path) -> None:
    table = Embeddings(str(place), str(listing(place, kind)))
    assert (len(table), table.dim, table.name) == (4, 3, "embeddings")
    assert torch.equal(table.of([NAMES[3], NAMES[0], NAMES[3]]), torch.from_numpy(VECTORS[[3, 0, 3]]))
    assert torch.equal(table.of(["./cats/2.png"]), torch.from_numpy(VECTORS[1:2]))


@pytest.mark.parametrize("kind", [np.float16, np.float64])
def test_other_floats_become_float32(kind: type, place: Path) -> None:
    np.save(place, VECTORS.astype(kind))
    found = Embeddings(str(place), str(place.with_name("names.txt"))).of(NAMES)
    assert found.dtype == torch.float32
    assert torch.allclose(found, torch.from_numpy(VECTORS), atol=1e-3)


def test_parquet_names_its_files_itself(tmp_path: Path) -> None:
    column = arrow.array(VECTORS.tolist(), arrow.list_(arrow.float32()))
    parquet.write_table(arrow.table({"file": NAMES, "vector": column}), tmp_path / "a.parquet")
    table = Embeddings(str(tmp_path / "a.parquet"))
    assert torch.equal(table.of(NAMES[::-1]), torch.from_numpy(VECTORS[::-1].copy()))
    with pytest.raises(ConfigError, match=r"^backbone\.files=a\.txt has no effect: .* has a column file; leave one"):
        Embeddings(str(tmp_path / "a.parquet"), "a.txt")


def test_the_digest_changes_with_vectors_and_with_names(place: Path) -> None:
    names = place.with_name("names.txt")
    first = Embeddings(str(place), str(names)).digest
    assert first == Embeddings(str(place), str(names)).digest
    names.write_text("\n".join(NAMES[::-1]), encoding="utf-8")
    second = Embeddings(str(place), str(names)).digest
    np.save(place, VECTORS + 1)
    assert len({first, second, Embeddings(str(place), str(names)).digest}) == 3


def test_images_without_a_vector_are_counted_and_named(place: Path) -> None:
    table = Embeddings(str(place), str(place.with_name("names.txt")))
    with pytest.raises(ConfigError) as caught:
        table.of([*NAMES, *(f"birds/{number}.png" for number in range(9))])
    assert str(caught.value).startswith(
        f"backbone.path={place} has no vector for 9 of 13 images (birds/0.png, birds/1.png, birds/2.png, birds/3.png, "
        "birds/4.png, ...); it has those of cats/1.png, "
    )


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_vectors_that_are_not_finite_are_refused_where_they_are_needed(wrong: float, place: Path) -> None:
    vectors = VECTORS.copy()
    vectors[2, 1] = wrong
    np.save(place, vectors)
    table = Embeddings(str(place), str(place.with_name("names.txt")))
    assert len(table.of(NAMES[:2])) == 2
    with pytest.raises(ConfigError, match=r"has vectors that are not finite for 1 of 4 images \(dogs/1\.png\)"):
        table.of(NAMES)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (
            VECTORS[:3],
            r"holds 3 vectors, but 4 files are listed \(backbone\.files=\S+\); both must have the same order",
        ),
        (VECTORS[0], r"must hold one vector per image, dims \(images, length\); it is \(3,\): bring it to these dims"),
        (VECTORS[:, :, None], r"it is \(4, 3, 1\): bring"),
        (VECTORS[:, :0], r"it is \(4, 0\): bring"),
        (VECTORS.astype(int), r"must hold floating-point numbers"),
    ],
)
def test_vectors_that_do_not_suit_are_refused(vectors: Any, message: str, place: Path) -> None:
    np.save(place, vectors)
    with pytest.raises(ConfigError, match=rf"^backbone\.path=\S+ {message}" if message[0] != "i" else message):
        Embeddings(str(place), str(place.with_name("names.txt")))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", '{"a": 1}', r"^backbone\.files=\S+ must be a list of names; write it as \["),
        ("a.json", "[", r"^backbone\.files=\S+ is not a list of files that can be read .*; write it as a text"),
        ("a.csv", "name\na\n", r"^backbone\.files=\S+ is not a list of files that can be read \(KeyError\('file'\)\)"),
        ("a.txt", "a\nb\n./a\nc\n", r": 1 file is listed twice \(a\); leave out all but one vector per image\.$"),
    ],
)
def test_lists_that_do_not_suit_are_refused(name: str, text: str, message: str, place: Path) -> None:
    place.with_name(name).write_text(text)
    with pytest.raises(ConfigError, match=message):
        Embeddings(str(place), str(place.with_name(name)))


def test_what_is_not_there_is_named(place: Path) -> None:
    for path, files, message in (
        (None, "a.txt", r"^backbone\.path=null must be a file of vectors"),
        ("gone.npy", "a.txt", r"^backbone\.path=gone\.npy is not there; name a file\.$"),
        (str(place), "gone.txt", r"^backbone\.files=gone\.txt is not there; name a file\.$"),
        (str(place), None, r"^backbone\.files=null: .* does not say which images its vectors belong to; name a list"),
        (str(place.with_name("names.txt")), None, r"must be a file of vectors: \.npy, \.safetensors, \.parquet\.$"),
    ):
        with pytest.raises(ConfigError, match=message):
            Embeddings(path, files)
