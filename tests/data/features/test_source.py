from pathlib import Path

import numpy as np
import pytest
import torch

from smoothpl.config.overrides import CommandLine
from smoothpl.data.features.contents import contents_of
from smoothpl.data.features.looks import pixels_of
from smoothpl.data.features.source import PLAIN, STRONG, TURNED, WEAK
from smoothpl.data.folder.scan import scan_folder
from smoothpl.errors import ConfigError
from smoothpl.run.build import build_data
from smoothpl.run.command_line import complete
from tests.support.backbones import TINY_BACKBONE, tiny_encoder
from tests.support.composing import TINY, composed
from tests.support.own import two_digits


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_the_first_weak_look_is_the_image_itself_and_test_images_are_looked_at_once() -> None:
    data = build_data(composed(*TINY_BACKBONE, *TINY, "backbone.views=3"))
    data.setup("fit")
    assert data.features is not None
    assert [(look.name, look.number) for look in data.features.looks(WEAK)] == [(PLAIN, 0), (WEAK, 1), (WEAK, 2)]
    assert [look.number for look in data.features.looks(STRONG)] == [0, 1, 2]
    images = data.pictures.train.read(torch.arange(5), None, [torch.empty(5, 0)])[0]
    plain = next(data.vectors.weak_looks(torch.arange(5)))
    assert plain.equal(tiny_encoder()(images).half())
    (tested,) = data.source.test.read(torch.arange(5), None, [torch.empty(5, 0)])
    assert tested.equal(tiny_encoder()(data.tested(torch.arange(5))).half())


def test_labels_alone_need_no_strong_looks() -> None:
    data = build_data(composed(*TINY_BACKBONE, *TINY, "method=supervised"))
    data.setup("fit")
    assert [{kind: len(looks) for kind, looks in table.items()} for table in data.vectors.tables] == [{"weak": 2}]


@pytest.mark.parametrize(
    ("method", "kind", "number"), [("ccssl", "simclr", 2), ("sequencematch", "medium", 2), ("remixmatch", "turned", 6)]
)
def test_a_method_that_wants_other_looks_finds_them_in_the_bank(method: str, kind: str, number: int) -> None:
    data = build_data(composed(*TINY_BACKBONE, *TINY, f"method={method}"))
    data.setup("fit")
    (table,) = data.vectors.tables
    assert {name: len(looks) for name, looks in table.items()} == {"weak": 2, "strong": 2, kind: number}
    strong, others = table["strong"][1].take(torch.arange(9)), table[kind][-1].take(torch.arange(9))
    assert not others.equal(strong)
    batch = data.views.of_step(data.train_dataloader().dataset[0])
    (view,) = batch.views.values()
    assert view.shape == batch.weak.shape


def test_turned_looks_are_strong_looks_turned() -> None:
    data = build_data(composed(*TINY_BACKBONE, *TINY, "method=remixmatch"))
    data.setup("fit")
    assert data.features is not None
    few = torch.arange(5)
    contents = contents_of(data.pictures.train, None)[:5]
    strong = pixels_of(data.pictures.train, few, contents, data.features.looks(STRONG))
    (table,) = data.vectors.tables
    for place, look in enumerate(table[TURNED]):
        number, quarters = divmod(place, 3)
        shown = torch.rot90(strong[number], quarters + 1, dims=(-2, -1))
        assert look.take(few).equal(tiny_encoder()(shown).half())


def test_the_turned_view_of_a_step_is_its_strong_view_turned() -> None:
    data = build_data(composed(*TINY_BACKBONE, *TINY, "method=remixmatch"))
    data.setup("fit")
    batch = data.views.of_step(data.train_dataloader().dataset[0])
    assert batch.strong is not None
    (table,) = data.vectors.tables
    index = data.fold.unlabeled[batch.image]
    strong, turned = ([look.take(index) for look in table[kind]] for kind in (STRONG, TURNED))
    for row, turn in enumerate(batch.chance["turn"].tolist()):
        number = next(at for at, look in enumerate(strong) if look[row].equal(batch.strong[row]))
        expected = strong[number] if turn == 0 else turned[3 * number + turn - 1]
        assert batch.views["turned"][row].equal(expected[row])


def test_what_a_head_starts_from_is_read_from_the_bank() -> None:
    data = build_data(composed(*TINY_BACKBONE, *TINY))
    data.setup("fit")
    assert data.labeled_vectors().shape == (40, 2, 96)
    parts = list(data.unlabeled_vectors())
    assert sum(map(len, parts)) == len(data.fold.unlabeled)


def test_pictures_of_a_batch_are_shown_as_they_are() -> None:
    data = build_data(composed(*TINY_BACKBONE, *TINY))
    data.setup("fit")
    batch = data.views.of_step(data.train_dataloader().dataset[0])
    pixels = data.pixels_of(batch, torch.tensor([3, 1]))
    index = data.fold.unlabeled[batch.image[[3, 1]]]
    (images,) = data.pictures.train.read(index, None, [torch.empty(2, 0)])
    assert pixels.equal(images.unsqueeze(1) / 255)


def test_vectors_made_elsewhere_are_looked_up_by_the_names_of_files(tmp_path: Path) -> None:
    root = two_digits(tmp_path / "photos")
    scan = scan_folder(str(root), None)
    vectors = np.random.default_rng(0).normal(size=(len(scan.files), 5)).astype("float32")
    np.save(tmp_path / "vectors.npy", vectors)
    (tmp_path / "names.txt").write_text("\n".join(scan.files))
    words = [f"backbone.path={tmp_path / 'vectors.npy'}", f"backbone.files={tmp_path / 'names.txt'}"]
    line = CommandLine.parse(["data=folder", f"data.root={root}", "backbone=embeddings", *words, *TINY])
    request = complete(line)
    data = build_data(request.config(), request.scan)
    data.setup("fit")
    batch = data.views.of_step(data.train_dataloader().dataset[0])
    names = data.pictures.train.files  # type: ignore[attr-defined]
    rows = [scan.files.index(names[data.fold.unlabeled[image]]) for image in batch.image]
    assert batch.weak.equal(torch.from_numpy(vectors[rows]))
    assert batch.strong is not None
    assert batch.strong.equal(batch.weak)


def test_of_other_data_the_vectors_are_numbered(tmp_path: Path) -> None:
    np.save(tmp_path / "vectors.npy", np.ones((3, 2), dtype="float32"))
    (tmp_path / "names.txt").write_text("train/0\ntrain/1\ntest/0")
    words = [f"backbone.path={tmp_path / 'vectors.npy'}", f"backbone.files={tmp_path / 'names.txt'}"]
    data = build_data(composed("backbone=embeddings", *words, *TINY))
    with pytest.raises(ConfigError, match=r"has no vector for 1,295 of 1,297 images \(train/2"):
        data.setup("fit")
