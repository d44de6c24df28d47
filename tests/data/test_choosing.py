from pathlib import Path

import pytest
import torch
from torch import Tensor

from smoothpl.config.compose import compose_checked
from smoothpl.data import OpenSet, Source, balanced, digits
from smoothpl.data.choosing import Choosing, is_of_training
from smoothpl.data.features.source import Features, names_of
from smoothpl.data.parts import Some
from smoothpl.data.source import UNKNOWN, Images, ImageSet
from smoothpl.errors import ConfigError
from smoothpl.record.record import read
from smoothpl.run.build import build_data
from smoothpl.run.training import train
from tests.support.backbones import TINY_BACKBONE
from tests.support.composing import TINY, composed

NUMBER = 297


def numbers_of(images: Images) -> list[int]:
    assert isinstance(images, Some)
    return images.index.tolist()


def pixels(images: Images) -> Tensor:
    return images.read(torch.arange(len(images)), None, [torch.empty(len(images), 0)])[0]


def test_what_is_held_out_tests_and_nothing_else_does() -> None:
    whole, source = digits(), Choosing(NUMBER).of(digits())
    held, rest = numbers_of(source.test), numbers_of(source.train)
    assert len(held) == NUMBER
    assert sorted(held + rest) == [*range(len(whole.train))]
    assert pixels(source.test).equal(pixels(whole.train)[held])
    assert source.test.labels.equal(whole.train.labels[held])
    assert source.train.labels.equal(whole.train.labels[rest])
    assert source.tested_on == "training images held out to choose settings on"


def test_classes_keep_their_shares() -> None:
    whole, source = digits(), Choosing(NUMBER).of(digits())
    expected = whole.train.labels.bincount() * NUMBER / len(whole.train)
    assert ((source.test.labels.bincount() - expected).abs() < 1).all()


@pytest.mark.parametrize("knobs", [("fold=3",), ("seed=7",), ("num_labels=80",)])
def test_the_same_images_are_held_out_whatever_else_is_set(knobs: tuple[str, ...]) -> None:
    words = (*TINY, f"choose_on={NUMBER}")
    held = []
    for more in ((), knobs):
        data = build_data(composed(*words, *more))
        data.setup("fit")
        held.append(numbers_of(data.pictures.test))
        assert len(data.fold.unlabeled) == 1297 - NUMBER
    assert held[0] == held[1]


def test_an_image_of_unknown_class_is_never_held_out() -> None:
    labels = torch.tensor([0, UNKNOWN, 1, 0, UNKNOWN, 1, 0, 1])
    images = ImageSet(torch.zeros(8, 1, 2, 2, dtype=torch.uint8), labels)
    source = Choosing(4).of(Source(images, images, ("a", "b")))
    assert sorted(source.test.labels.tolist()) == [0, 0, 1, 1]


def test_more_images_than_can_be_spared_are_refused() -> None:
    with pytest.raises(ConfigError, match="choose_on=1297, but only 1297 training images have labels"):
        Choosing(1297).of(digits())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("choose_on=-1",), "choose_on=-1 must be a number of training images"),
        (("choose_on=50", "data=folder", "data.root=."), "choose_on=50 is for published data sets"),
    ],
)
def test_a_wrong_number_is_refused_before_any_image_is_read(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        compose_checked(words)


def test_an_open_set_leaves_strangers_out_of_what_is_held_out() -> None:
    source = OpenSet(6, 0.5, 0).of(Choosing(NUMBER).of(digits()))
    assert {*source.test.labels.tolist()} == {*range(6)}
    assert is_of_training(source.test, source.train)
    assert not is_of_training(digits().test, source.train)


def test_vectors_made_elsewhere_are_found_by_the_number_of_the_training_image() -> None:
    source = Choosing(NUMBER).of(digits())
    names = names_of(source.test, "train" if is_of_training(source.test, source.train) else "test")
    assert names == [f"train/{number}" for number in numbers_of(source.test)]


def test_features_of_what_is_held_out_are_those_of_the_training_images() -> None:
    words = (*TINY, *TINY_BACKBONE)
    usual, chosen = (build_data(composed(*words, *more)) for more in ((), (f"choose_on={NUMBER}",)))
    for data in (usual, chosen):
        data.setup("fit")
    assert isinstance(usual.features, Features)
    held = torch.tensor(numbers_of(chosen.pictures.test))
    expected = torch.cat([each.float() for each in usual.vectors.weak_looks(held)][:1])
    everything = torch.arange(len(held))
    (found,) = chosen.source.test.read(everything, None, [torch.empty(len(held), 0)])
    assert found.float().equal(expected)


def test_a_run_says_what_its_error_was_measured_on(tmp_path: Path) -> None:
    train(composed(*TINY, f"choose_on={NUMBER}"), tmp_path / "run")
    record = read(tmp_path / "run")
    assert (record.num_test, record.tested_on) == (NUMBER, "training images held out to choose settings on")
    fold = balanced(Choosing(NUMBER).of(digits()).train.labels, 40, 10, 0, True)
    assert len(fold.unlabeled) == 1297 - NUMBER
