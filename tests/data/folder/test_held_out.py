import random

import pytest

from smoothpl.data.folder.held_out import can_hold_out, division, hold_out
from smoothpl.errors import ConfigError


def test_parts_stay_the_same_when_labels_are_added() -> None:
    label = {f"{number:08x}": "ab"[number // 20 - 1] for number in range(20, 60)}
    more = label | {f"{number:08x}": "a" for number in [*range(20), *range(100, 140)]}
    for fold in range(4):
        assert hold_out(label, 4, fold) == hold_out(more, 4, fold) & {*label}


def test_a_class_is_never_held_out_as_a_whole() -> None:
    with pytest.raises(ConfigError, match=r"fold=1 of data\.folds=4 holds out every label of b; use another fold"):
        hold_out({"00000000": "a", "00000001": "b", "00000005": "b", "00000002": "a"}, 4, 1)


def contents_of(classes: int, labels: int, chance: random.Random) -> dict[str, str]:
    return {f"{chance.getrandbits(32):08x}": str(number % classes) for number in range(classes * labels)}


@pytest.mark.parametrize(
    ("classes", "labels", "usual"), [(10, 2, 5), (2, 2, 2), (3, 3, 2), (5, 3, 3), (10, 4, 5), (2, 50, 5)]
)
def test_few_labels_are_divided_so_that_some_part_can_test(classes: int, labels: int, usual: int) -> None:
    chance = random.Random(classes * labels)
    for _ in range(50):
        label = contents_of(classes, labels, chance)
        try:
            folds, fold = division(label, usual)
        except ConfigError:
            assert not any(can_hold_out(label, n, k) for n in range(2, 11) for k in range(n))
            continue
        assert hold_out(label, folds, fold)
        if all(can_hold_out(label, usual, each) for each in range(usual)):
            assert (folds, fold) == (usual, 0)


def test_one_label_of_each_class_cannot_test() -> None:
    with pytest.raises(ConfigError, match=r"too few labeled images \(2\) .*, and only one of a, b; label at least two"):
        division({"00000000": "a", "00000001": "b"}, 2)
