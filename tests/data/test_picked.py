from pathlib import Path
from typing import Any

import pytest
import torch

from smoothpl.data import Fold
from smoothpl.data.picked import Picked
from smoothpl.errors import ConfigError
from smoothpl.io.digests import digest_of
from smoothpl.run.build import build_data
from tests.support.composing import composed

PICKED = Picked(torch.tensor([7, 3, 9]), torch.tensor([1, 0, 2]), torch.tensor([1.0, 0.5, 0.25]))


def test_what_was_picked_is_read_as_it_was_written(tmp_path: Path) -> None:
    PICKED.write(tmp_path / "picked.json")
    for part, again in zip(PICKED, Picked.read(tmp_path / "picked.json"), strict=True):
        assert torch.equal(part, again)
    nothing = Picked(*(part[:0] for part in PICKED))
    nothing.write(tmp_path / "nothing.json")
    assert [part.dtype for part in Picked.read(tmp_path / "nothing.json")] == [torch.long, torch.long, torch.float]


def test_a_file_that_is_gone_damaged_or_another_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "picked.json"
    with pytest.raises(ConfigError, match=r"data\.picked\.file=.*picked\.json is not there, the labels that a"):
        Picked.read(path)
    PICKED.write(path)
    Picked.read(path, digest_of(path))
    with pytest.raises(ConfigError, match="has other labels than this run is to learn; start a new run"):
        Picked.read(path, "0" * 32)
    for text in ("{", "[]", '{"image": [1], "label": [1]}', '{"image": [1, 2], "label": [1], "weight": [1]}'):
        path.write_text(text)
        with pytest.raises(ConfigError, match=r"is damaged .*; remove it, and run the same command again"):
            Picked.read(path)


@pytest.mark.parametrize(("num_images", "num_classes", "what"), [(9, 3, "image 9"), (10, 2, "label 2")])
def test_images_and_labels_of_other_data_are_refused(num_images: int, num_classes: int, what: str) -> None:
    PICKED.check(10, 3)
    with pytest.raises(ConfigError, match=f"{what} is none of these data"):
        PICKED.check(num_images, num_classes)


def test_picked_images_stand_after_the_labeled_ones_and_stay_unlabeled() -> None:
    labels = torch.tensor([0, 1, 2, 2, 2, 2, 2, 2, 2, 2])
    fold = Fold(torch.tensor([0, 1]), torch.arange(10))
    joined, lessons = PICKED.beside(fold, labels)
    assert joined.labeled.tolist() == [0, 1, 7, 3, 9]
    assert joined.unlabeled.tolist() == list(range(10))
    assert lessons.label.tolist() == [0, 1, 1, 0, 2]  # as they were predicted
    assert lessons.weight is not None
    assert lessons.weight.tolist() == [1, 1, 1, 0.5, 0.25]
    assert PICKED._replace(weight=torch.ones(3)).beside(fold, labels)[1].weight is None


def test_a_step_has_the_labels_and_weights_of_what_was_picked(tmp_path: Path) -> None:
    data = build_data(composed())
    data.setup("fit")
    free = torch.tensor(sorted({*range(200)} - {*data.fold.labeled.tolist()}))[:100]
    wrong = (data.source.train.labels[free] + 1) % 10
    Picked(free, wrong, torch.full((100,), 0.5)).write(tmp_path / "picked.json")
    file = {"file": str(tmp_path / "picked.json"), "digest": "null", "generation": "1"}
    grown = build_data(composed(*(f"+data.picked.{key}={value}" for key, value in file.items())))
    grown.setup("fit")
    assert torch.equal(grown.fold.labeled, data.fold.labeled)  # the record has what was given
    assert (data.num_labeled, grown.num_labeled) == (40, 140)
    before: Any = data.train_dataloader().dataset[0]
    step: Any = grown.train_dataloader().dataset[0]
    images: Any = data.source.train
    assert before.label_weight is None
    assert torch.equal(before.unlabeled, step.unlabeled)
    is_picked = step.labeled_image >= 40
    assert 0 < is_picked.sum() < len(is_picked)
    assert step.label_weight.tolist() == [0.5 if each else 1.0 for each in is_picked.tolist()]
    assert torch.equal(step.label[is_picked], wrong[step.labeled_image[is_picked] - 40])
    assert torch.equal(step.labeled[is_picked], images.images[free[step.labeled_image[is_picked] - 40]])
    assert grown.views.of_step(step).label_weight is step.label_weight
