from itertools import chain

import pytest
import torch

from smoothpl.data.features.contents import contents_of
from smoothpl.data.folds import Fold
from smoothpl.data.parts import Part, Some, num_parts, parts_of
from smoothpl.data.source import UNKNOWN, ImageSet, Source
from smoothpl.errors import ConfigError

LABELS = torch.tensor([0, 1, 0, 2, 1, 0, 3, 0, 1, 1, UNKNOWN, 0])
LABELED = torch.tensor([0, 1, 2, 3, 4, 5, 6, 7, 8])


def source() -> Source:
    pixels = torch.arange(12, dtype=torch.uint8).view(12, 1, 1, 1).expand(12, 1, 2, 2)
    return Source(ImageSet(pixels, LABELS), ImageSet(pixels[:3], LABELS[:3]), ("a", "b", "c", "d"))


def test_every_labeled_image_is_held_out_once_but_the_only_one_of_its_class() -> None:
    held = [Part(3, number).hold_out(Fold(LABELED, torch.arange(12)), source())[1].test for number in range(3)]
    assert all(isinstance(each, Some) for each in held)
    assert sorted(chain(*(each.index.tolist() for each in held if isinstance(each, Some)))) == [0, 1, 2, 4, 5, 7, 8]
    assert {len(each) for each in held} == {2, 3}


@pytest.mark.parametrize("number", range(3))
def test_what_is_held_out_tests_and_does_not_train(number: int) -> None:
    fold, held = Part(3, number).hold_out(Fold(LABELED, torch.arange(12)), source())
    assert isinstance(held.test, Some)
    out = {*held.test.index.tolist()}
    assert {*fold.labeled.tolist()} == {*LABELED.tolist()} - out
    assert {*fold.unlabeled.tolist()} == {*range(12)} - out
    assert {*LABELS[fold.labeled].tolist()} == {0, 1, 2, 3}  # no class loses all of its labels
    (pixels,) = held.test.read(torch.arange(len(held.test)), None, [torch.empty(0)])
    assert pixels[:, 0, 0, 0].tolist() == held.test.index.tolist()
    assert held.test.labels.tolist() == LABELS[held.test.index].tolist()
    assert held.tested_on == f"labeled images held out, part {number} of 3"


def test_a_class_never_loses_all_labels_whatever_the_numbers_are() -> None:
    for counts in ([2, 2, 2], [2, 9], [5, 5, 5, 5], [3, 2, 1, 7], [2]):
        labels = torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts))
        folds = num_parts(counts)
        part = parts_of(labels, folds)
        assert {*part.tolist()} - {-1} == {*range(folds)}
        for number in range(folds):
            assert {*labels[part != number].tolist()} == {*range(len(counts))}


def test_there_are_no_parts_where_every_class_has_one_label() -> None:
    assert num_parts([1, 1, 0]) == num_parts([]) == 0
    assert num_parts([2, 1]) == 2
    assert num_parts([4, 4]) == 5


def test_a_part_without_an_image_is_refused() -> None:
    with pytest.raises(ConfigError, match="part 4 of 5 holds out no labeled image; use fewer parts"):
        Part(5, 4).hold_out(Fold(torch.tensor([0, 2]), torch.arange(12)), source())


def test_a_bank_knows_held_out_images_by_the_same_contents() -> None:
    train, index = source().train, torch.tensor([7, 1])
    assert contents_of(Some(train, index), None).tolist() == contents_of(train, None)[index].tolist()

    class Knowing(ImageSet):
        def contents(self) -> list[bytes]:
            return [bytes([number]) for number in range(12)]

    assert isinstance(train, ImageSet)
    knowing = Knowing(*train)
    assert contents_of(Some(knowing, index), None).tolist() == contents_of(knowing, None)[index].tolist()
