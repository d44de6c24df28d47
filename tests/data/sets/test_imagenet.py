import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.utils.data import DataLoader

from smoothpl.data import Pictures, imagenet
from smoothpl.errors import ConfigError
from smoothpl.run.build import build_data
from smoothpl.run.training import train
from tests.support.composing import TINY, composed
from tests.support.gallery import BAD, GOOD, make_gallery


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def knobs(root: Path, *more: str) -> list[str]:
    return [
        *(*TINY, "data=imagenet", "views=imagenet", f"data.root={root}", "data.num_classes=2", "num_labels=4"),
        *("data.size=16", "batch_size=2", "unlabeled_ratio=2", "data.num_workers=0", *more),
    ]


def test_classes_are_folders_in_alphabetical_order(tmp_path: Path) -> None:
    source = imagenet(str(make_gallery(tmp_path, num_classes=3)))
    assert source.class_names == ("class 0", "class 1", "class 2")
    assert source.train.labels.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert isinstance(source.test, Pictures)
    assert Path(os.fsdecode(source.test.paths[5])) == tmp_path / "val" / "class 1" / "1.jpg"


def test_a_run_on_pictures_of_all_kinds(tmp_path: Path) -> None:
    make_gallery(tmp_path / "data")
    for name, make in GOOD.items():
        make(tmp_path / "data" / "train" / "class 1" / name)
    record = train(composed(*knobs(tmp_path / "data", "data.num_workers=2")), tmp_path / "run", "pictures")
    assert record.status == "finished"
    assert record.unlabeled_per_class == [4, 4 + len(GOOD)]
    assert record.num_test == 8


def test_any_number_of_workers_reads_the_same_steps(tmp_path: Path) -> None:
    data = build_data(composed(*knobs(make_gallery(tmp_path))))
    data.setup("fit")
    here = list(data.train_dataloader())
    for num_workers in (1, 2):
        there = list(DataLoader(data.train_dataloader().dataset, batch_size=None, num_workers=num_workers))
        for one, other in zip(here, there, strict=True):
            assert torch.equal(one.unlabeled, other.unlabeled)
            assert torch.equal(one.unlabeled_strong, other.unlabeled_strong)
            assert torch.equal(one.labeled, other.labeled)
            assert torch.equal(one.label, other.label)


def test_weak_and_strong_views_show_parts_of_their_own(tmp_path: Path) -> None:
    data = build_data(composed(*knobs(make_gallery(tmp_path))))
    data.setup("fit")
    step = data.train_dataloader().dataset[0]
    assert step.unlabeled_strong is not None
    assert step.unlabeled.shape == step.unlabeled_strong.shape == (4, 3, 16, 16)
    assert not torch.equal(step.unlabeled, step.unlabeled_strong)
    without = build_data(composed(*knobs(tmp_path, "method=pseudo_label")))
    without.setup("fit")
    assert without.train_dataloader().dataset[0].unlabeled_strong is None


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_stops_the_run_or_is_left_out_and_counted(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = make_gallery(tmp_path / "data")
    BAD[name](root / "val" / "class 0" / name)
    with pytest.raises(ConfigError, match=rf"{name} is not an image"):
        train(composed(*knobs(root)), tmp_path / "raise", "bad")
    capsys.readouterr()
    record = train(composed(*knobs(root, "data.on_bad_image=skip")), tmp_path / "skip", "bad")
    assert record.num_test == 8
    assert record.num_left_out == 1
    err = capsys.readouterr().err
    assert "checking 17 files, once" in err
    assert f"1 of 17 files in {root} are not images and are skipped: val/class 0/{name}" in err


def test_files_are_looked_at_once_and_again_when_one_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = make_gallery(tmp_path / "data")
    BAD["notes.txt"](root / "train" / "class 0" / "notes.txt")
    for _ in range(2):
        assert imagenet(str(root), on_bad_image="skip").num_left_out == 1
    assert capsys.readouterr().err.count("checking") == 1
    (root / "train" / "class 0" / "notes.txt").unlink()
    assert imagenet(str(root), on_bad_image="skip").num_left_out == 0
    assert capsys.readouterr().err.count("checking") == 1


def test_what_was_looked_at_is_known_by_any_name_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = make_gallery(tmp_path / "data")
    BAD["notes.txt"](root / "train" / "class 0" / "notes.txt")
    (tmp_path / "link").symlink_to(root)
    monkeypatch.chdir(tmp_path)
    for name in (str(root), "data", "link"):
        source = imagenet(name, on_bad_image="skip")
        assert (len(source.train), source.num_left_out) == (8, 1)
    assert capsys.readouterr().err.count("checking") == 1


def test_without_a_cache_that_can_be_written_to_files_are_looked_at_each_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cache").write_text("a file, not a folder")
    root = make_gallery(tmp_path / "data")
    for _ in range(2):
        imagenet(str(root), on_bad_image="skip")
    assert capsys.readouterr().err.count("checking") == 2


def test_hidden_files_are_skipped(tmp_path: Path) -> None:
    make_gallery(tmp_path)
    (tmp_path / "train" / "class 0" / ".DS_Store").write_text("")
    assert len(imagenet(str(tmp_path)).train) == 8


def test_a_worker_names_the_bad_file_too(tmp_path: Path) -> None:
    root = make_gallery(tmp_path / "data")
    for path in (root / "train").rglob("*.jpg"):
        path.write_text("no picture")
    with pytest.raises(ConfigError, match=r"\.jpg is not an image"):
        train(composed(*knobs(root, "data.num_workers=2")), tmp_path / "run", "bad")


def empty(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


def remove_classes(root: Path) -> None:
    for path in root.glob("*/*"):
        shutil.rmtree(path)


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda root: (root / "val").rename(root / "test"), r"does not hold val/; name the folder that holds train/"),
        (
            lambda root: (root / "val" / "class 1").rename(root / "val" / "class 7"),
            "differ in 2 classes, class 1, class 7",
        ),
        (lambda root: empty(root / "train" / "class 1"), "has no images of class 1"),
        (remove_classes, "must have a folder for every class"),
    ],
)
def test_a_folder_of_another_form_is_refused(tmp_path: Path, spoil: Callable[[Path], object], complaint: str) -> None:
    root = make_gallery(tmp_path / "data")
    spoil(root)
    with pytest.raises(ConfigError, match=complaint):
        imagenet(str(root))


def test_an_unknown_way_with_bad_images_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"data\.on_bad_image=ignore must be raise or skip"):
        imagenet(str(make_gallery(tmp_path)), on_bad_image="ignore")  # type: ignore[arg-type]
