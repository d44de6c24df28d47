from itertools import pairwise
from pathlib import Path

import pytest
import torch
from torch import Tensor

from smoothpl.data import OpenSet, Source, balanced, digits, full, imbalanced, random
from smoothpl.data.features.source import names_of
from smoothpl.data.folds import Fold, count_classes
from smoothpl.data.source import STRANGER, UNKNOWN
from smoothpl.errors import ConfigError
from smoothpl.record.record import read
from smoothpl.run.build import build_data
from smoothpl.run.training import train
from tests.support.backbones import TINY_BACKBONE
from tests.support.composing import TINY, composed
from tests.support.real import needs_cifar10, real_cifar10

OPEN = ("unlabeled=open_set", "num_labels=24")
ANIMALS = [2, 3, 4, 5, 6, 7]


def share_of_strangers(labels: Tensor, fold: Fold) -> float:
    return (labels[fold.unlabeled] == STRANGER).double().mean().item()


def fold_of(source: Source, open_set: OpenSet, num_labels: int = 24) -> tuple[Source, Fold]:
    known = open_set.of(source)
    labels = known.train.labels
    number = len(known.class_names)
    return known, open_set.join(balanced(labels, num_labels, number, open_set.fold, True), labels)


@needs_cifar10
@pytest.mark.parametrize("strangers", [0.0, 0.2, 0.4, 0.5, 0.75])
def test_the_animals_of_cifar10_are_learned_among_strangers(strangers: float) -> None:
    source = real_cifar10()
    known, fold = fold_of(source, OpenSet(ANIMALS, strangers, 0))
    assert known.class_names == ("bird", "cat", "deer", "dog", "frog", "horse")
    assert known.test.labels.bincount().tolist() == [1000] * 6
    assert known.train.labels[fold.labeled].bincount().tolist() == [4] * 6
    assert share_of_strangers(known.train.labels, fold) == pytest.approx(strangers, abs=1e-4)
    num_known, num_strangers = (known.train.labels[fold.unlabeled] >= 0).sum(), 20000 * (strangers >= 0.4)
    assert num_known == 30000 or num_strangers == len(fold.unlabeled) - num_known
    true = source.train.labels[fold.unlabeled]
    is_animal = torch.isin(true, torch.tensor(ANIMALS))
    assert torch.where(is_animal, true - 2, STRANGER).equal(known.train.labels[fold.unlabeled])


def test_what_is_tested_are_the_images_of_known_classes_with_their_new_numbers() -> None:
    source = digits()
    known = OpenSet([7, 2, 5], 0.5, 0).of(source)
    index = (source.test.labels == 5).nonzero().squeeze(1)
    (fives,) = source.test.read(index, None, [])
    (found,) = known.test.read((known.test.labels == 1).nonzero().squeeze(1), None, [])
    assert found.equal(fives)
    assert known.class_names == ("2", "5", "7")
    assert {*known.train.labels[source.train.labels == 7].tolist()} == {2}


def test_another_fold_knows_other_classes_and_the_same_fold_the_same() -> None:
    names = [OpenSet(6, 0.5, fold).of(digits()).class_names for fold in range(6)]
    assert OpenSet(6, 0.5, 3).of(digits()).class_names == names[3]
    assert len({*names}) > 3


def test_more_strangers_are_added_to_those_there_were_and_labels_stay() -> None:
    folds = [fold_of(digits(), OpenSet(6, strangers, 1))[1] for strangers in (0.0, 0.1, 0.3, 0.5, 0.8)]
    labels = OpenSet(6, 0.5, 1).of(digits()).train.labels
    assert all(fold.labeled.equal(folds[0].labeled) for fold in folds)
    sets = [{*fold.unlabeled[labels[fold.unlabeled] == STRANGER].tolist()} for fold in folds]
    assert all(fewer <= more for fewer, more in pairwise(sets))
    known = [{*fold.unlabeled[labels[fold.unlabeled] >= 0].tolist()} for fold in folds]
    assert all(fewer <= more for more, fewer in pairwise(known))
    assert len(known[0]) == (labels >= 0).sum()


def test_any_split_of_the_known_classes_goes_with_it() -> None:
    open_set = OpenSet(6, 0.25, 0)
    labels = open_set.of(digits()).train.labels
    tail = imbalanced(labels, 48, 6, 0, True, keep=1.0, num_thinned=0, labeled_tail=1.0, unlabeled_tail=10.0)
    for before in (random(labels, 24, 0, True), full(labels), tail, balanced(labels, 24, 6, 0, False)):
        assert (labels[before.labeled] >= 0).all()
        fold = open_set.join(before, labels)
        assert share_of_strangers(labels, fold) == pytest.approx(0.25, abs=2e-3)
        shares = [count_classes(labels[each.unlabeled], 6).double() for each in (before, fold)]
        assert shares[1].equal(shares[0])  # a quarter needs no more strangers than there are


def test_what_cannot_be_is_refused_with_the_way_out() -> None:
    with pytest.raises(ConfigError, match="at most 9 can be known"):
        OpenSet(10, 0.5, 0).of(digits())
    assert len(OpenSet(10, 0.0, 0).of(digits()).class_names) == 10
    with pytest.raises(ConfigError, match="have the numbers 0 to 9"):
        OpenSet([3, 10], 0.5, 0).of(digits())
    for wrong in (1, [3, 3], [3], "cats", 2.5, [1.5, 2], [-1, 2], True, None):
        with pytest.raises(ConfigError, match="must be a number of classes"):
            OpenSet(wrong, 0.5, 0)  # type: ignore[arg-type]
    for share in (-0.1, 1.0):
        with pytest.raises(ConfigError, match=r"must lie in \[0, 1\)"):
            OpenSet(6, share, 0)
    source = digits()
    source.train.labels[5] = UNKNOWN
    with pytest.raises(ConfigError, match="must know the class of every training image"):
        OpenSet(6, 0.5, 0).of(source)


@pytest.mark.parametrize("backbone", [(), TINY_BACKBONE], ids=["images", "features"])
def test_a_run_learns_the_known_classes_and_its_record_tells_of_the_strangers(
    tmp_path: Path, backbone: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    record = train(composed(*backbone, *TINY, *OPEN, "threshold=0.2", "logger=none"), tmp_path / "run")
    assert record.status == "finished"
    assert len(record.class_names) == len(record.confusion) == 6
    assert record.num_strangers == pytest.approx(record.num_unlabeled / 2, abs=1)
    assert sum(record.unlabeled_per_class) + record.num_strangers == record.num_unlabeled
    for name in ("stranger_recall", "known_coverage"):
        value = record.metrics[f"train/{name}"]
        assert value is not None
        assert 0 <= value <= 1
    assert read(tmp_path / "run").num_strangers == record.num_strangers


def test_vectors_made_elsewhere_belong_to_images_of_the_whole_set() -> None:
    source = digits()
    known = OpenSet([3, 4], 0.5, 0).of(source)
    names = names_of(known.test, "test")
    tested = torch.isin(source.test.labels, torch.tensor([3, 4])).nonzero().squeeze(1)
    assert names == [f"test/{number}" for number in tested.tolist()]
    assert names_of(known.train, "train") == [f"train/{number}" for number in range(len(source.train))]


def test_a_closed_set_is_what_it_was() -> None:
    assert composed().unlabeled is None
    assert build_data(composed()).open_set is None
