from pathlib import Path

import numpy as np
import pytest
import torch

from smoothpl.config.overrides import CommandLine
from smoothpl.data.features.source import PLAIN, STRONG, WEAK
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
    assert [(len(table.weak), len(table.strong)) for table in data.vectors.tables] == [(2, 0)]


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
