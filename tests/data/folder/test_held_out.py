import random
from collections import Counter

import pytest

from smoothpl.data.folder.held_out import Division, can_hold_out, division, hold_out, meaning
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


@pytest.mark.parametrize(("classes", "labels"), [(10, 2), (2, 2), (3, 3), (5, 3), (10, 4), (2, 50), (10, 20)])
def test_labels_are_divided_so_that_some_part_can_test(classes: int, labels: int) -> None:
    chance = random.Random(classes * labels)
    for _ in range(50):
        label = contents_of(classes, labels, chance)
        try:
            folds, fold, num_held_out = division(label, 5)
        except ConfigError:
            assert not any(can_hold_out(label, n, k) for n in range(2, 11) for k in range(n))
            continue
        assert len(hold_out(label, folds, fold)) == num_held_out
        if len(label) >= 40 and all(can_hold_out(label, 5, each) for each in range(5)):
            assert folds == 5


@pytest.mark.parametrize(("classes", "labels", "held"), [(2, 2, {1}), (2, 4, {2}), (5, 3, {3}), (3, 8, {4, 5, 6})])
def test_few_labels_leave_most_of_them_to_learn_from(classes: int, labels: int, held: set[int]) -> None:
    """A fifth is held out, or as near to it as contents allow, and no class loses more than half."""
    chance = random.Random(classes * labels)
    for _ in range(50):
        label = contents_of(classes, labels, chance)
        part = division(label, 5)
        assert part.num_held_out in held
        lost = Counter(label[each] for each in hold_out(label, part.folds, part.fold))
        assert max(lost.values()) <= labels / 2


def test_a_part_that_is_far_too_small_does_not_test() -> None:
    """One of forty labels in part 0, nine in part 1."""
    numbers = [0, *(5 * each + 1 for each in range(9)), *(5 * each + 2 + each % 3 for each in range(30))]
    label = {f"{number:08x}": "ab"[place % 2] for place, number in enumerate(numbers)}
    assert len(hold_out(label, 5, 0)) == 1
    assert division(label, 5) == Division(5, 1, 9)


def test_what_it_means_is_said() -> None:
    label = {f"{number:08x}": "ab"[number % 2] for number in range(100)}
    assert meaning(label, 5, 0) == (
        "No test images: 20 of 100 labels are held out to test (part 0 of 5), 80 train. Part after part: "
        "-m fold=0,1,2,3,4."
    )
    few = {f"{number:08x}": "ab"[number < 20] for number in (0, 5, 10, 11, 16, 21, 25, 30)}  # none in parts 2, 3 and 4
    # Wilson's interval for 0 of 3: 1.96 ** 2 / (3 + 1.96 ** 2)
    assert meaning(few, 5, 1) == (
        "No test images: 3 of 8 labels are held out to test (part 1 of 5), 5 train. Part after part: -m fold=0,1. "
        "So few say little: with none of them wrong, the error may still be 56 %. Label more, or put images into "
        "test/<class>/."
    )


def test_the_part_that_was_asked_for_tests() -> None:
    chance = random.Random(1)
    for _ in range(50):
        label = contents_of(2, 4, chance)
        assert division(label, 5, typed=1).fold == 1
    assert division(label, 5, typed=99).num_held_out == 2  # which is refused elsewhere


def test_one_label_of_each_class_cannot_test() -> None:
    with pytest.raises(ConfigError, match=r"too few labeled images \(2\) .*, and only one of a, b; label at least two"):
        division({"00000000": "a", "00000001": "b"}, 5)
