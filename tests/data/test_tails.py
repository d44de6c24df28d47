import pytest
import torch
from torch import Tensor

from smoothpl.data import balanced, digits, long_tailed
from smoothpl.data.tails import check_tails, class_sizes
from smoothpl.errors import ConfigError
from smoothpl.run.build import build_data
from tests.support.composing import composed

LABELS = torch.arange(10).repeat_interleave(5000)
"""As many as CIFAR-10 has of every class."""
OF_CIFAR10 = {"labeled_head": 1500, "labeled_tail": 100.0, "unlabeled_head": 3000, "unlabeled_tail": 100.0}
LABELED = [1500, 899, 539, 323, 193, 116, 69, 41, 25, 15]
"""Published sizes of CIFAR-10-LT, with 3,720 labels in all."""
UNLABELED = [3000, 1798, 1078, 646, 387, 232, 139, 83, 50, 30]


def counts(part: Tensor, labels: Tensor = LABELS) -> list[int]:
    return labels[part].bincount(minlength=10).tolist()


def test_the_usual_benchmark_has_the_published_class_sizes() -> None:
    fold = long_tailed(LABELS, 10, 0, unlabeled_includes_labeled=False, **OF_CIFAR10)  # type: ignore[arg-type]
    assert counts(fold.labeled) == LABELED
    assert counts(fold.unlabeled) == UNLABELED
    assert not set(fold.labeled.tolist()) & set(fold.unlabeled.tolist())


def test_labeled_images_are_unlabeled_too_over_and_above_the_published_sizes() -> None:
    apart, both = (long_tailed(LABELS, 10, 0, each, **OF_CIFAR10) for each in (False, True))  # type: ignore[arg-type]
    assert torch.equal(both.labeled, apart.labeled)
    assert counts(both.unlabeled) == [n + m for n, m in zip(LABELED, UNLABELED, strict=True)]
    assert both.unlabeled.tolist() == sorted({*apart.labeled.tolist(), *apart.unlabeled.tolist()})


def test_the_reversed_tail_has_its_largest_class_last() -> None:
    fold = long_tailed(LABELS, 10, 0, False, **OF_CIFAR10 | {"unlabeled_tail": -100.0})  # type: ignore[arg-type]
    assert (counts(fold.labeled), counts(fold.unlabeled)) == (LABELED, UNLABELED[::-1])


def test_without_sizes_every_other_image_is_unlabeled_of_unknown_class_too() -> None:
    """As in STL10-LT."""
    labels = torch.cat([LABELS, torch.full((7,), -1)])
    none = {"unlabeled_head": None, "unlabeled_tail": None}
    fold = long_tailed(labels, 10, 0, False, **OF_CIFAR10 | none)  # type: ignore[arg-type]
    assert counts(fold.labeled, labels) == LABELED
    assert len(fold.unlabeled) == 50_007 - sum(LABELED)
    with pytest.raises(ConfigError, match=r"split\.unlabeled_head=3000 must know the class of every training image"):
        long_tailed(labels, 10, 0, False, **OF_CIFAR10)  # type: ignore[arg-type]


@pytest.mark.parametrize("ratio", [1, 10, 20, 50, 100, 150, 200])
@pytest.mark.parametrize("num_classes", [2, 10, 100])
def test_sizes_follow_the_published_formula(ratio: int, num_classes: int) -> None:
    sizes = class_sizes(1500, ratio, num_classes).tolist()
    assert (sizes[0], sizes[-1]) == (1500, 1500 // ratio)
    for c, size in enumerate(sizes):
        assert 1500 * ratio ** (-c / (num_classes - 1)) - size == pytest.approx(0.5, abs=0.5 + 1e-9)


def test_a_fold_is_a_function_of_its_number_and_labels_are_nested_in_those_of_a_larger_head() -> None:
    folds = [long_tailed(LABELS, 10, fold, False, **OF_CIFAR10) for fold in (0, 0, 1)]  # type: ignore[arg-type]
    assert torch.equal(folds[0].unlabeled, folds[1].unlabeled)
    assert not torch.equal(folds[0].labeled, folds[2].labeled)
    fewer = long_tailed(LABELS, 10, 0, False, **OF_CIFAR10 | {"labeled_head": 500})  # type: ignore[arg-type]
    assert set(fewer.labeled.tolist()) < set(folds[0].labeled.tolist())


def test_without_any_tail_the_labels_are_those_of_the_balanced_fold() -> None:
    even = {"labeled_head": 4, "labeled_tail": 1.0, "unlabeled_head": 50, "unlabeled_tail": 1.0}
    fold = long_tailed(LABELS, 10, 3, False, **even)  # type: ignore[arg-type]
    assert torch.equal(fold.labeled, balanced(LABELS, 40, 10, 3, True).labeled)
    assert counts(fold.unlabeled) == [50] * 10


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"labeled_tail": 0.5}, r"split\.labeled_tail=0\.5 must be 1 \(no tail\) or more"),
        ({"labeled_tail": -100}, r"split\.labeled_tail=-100 must be 1"),
        ({"labeled_head": 99}, r"split\.labeled_head=99 with split\.labeled_tail=100 leaves nothing of the smallest"),
        ({"unlabeled_tail": 0.01}, r"split\.unlabeled_tail=0\.01 must be 1 \(no tail\) or more.* or below -1"),
        ({"unlabeled_tail": -1}, "or below -1 for the reversed tail"),
        ({"unlabeled_tail": -4000.0}, "split.unlabeled_head=3000 with split.unlabeled_tail=4000 leaves nothing"),
        ({"unlabeled_head": None}, r"split\.unlabeled_head=None and split\.unlabeled_tail=100\.0: give both, or"),
    ],
)
def test_tails_that_make_no_sense_are_refused_with_the_way_out(changes: dict[str, object], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        check_tails(**OF_CIFAR10 | changes)  # type: ignore[arg-type]
    check_tails(**OF_CIFAR10)  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "most"), [("labeled", 5000), ("unlabeled", 3500)])
def test_a_head_that_the_data_cannot_fill_is_refused_with_one_that_they_can(kind: str, most: int) -> None:
    tails = OF_CIFAR10 | ({"unlabeled_head": None, "unlabeled_tail": None} if kind == "labeled" else {})
    asks = (
        rf"split\.{kind}_head=6000 asks for 6000 images of class 0, which has {most}.*; use split\.{kind}_head={most} "
    )
    with pytest.raises(ConfigError, match=asks):
        long_tailed(LABELS, 10, 0, False, **tails | {f"{kind}_head": 6000})  # type: ignore[arg-type]
    long_tailed(LABELS, 10, 0, False, **tails | {f"{kind}_head": most})  # type: ignore[arg-type]


@pytest.mark.parametrize("words", [[], ["method=fully_supervised", "split=long_tailed_digits"]])
def test_the_digits_have_long_tails_too(words: list[str]) -> None:
    data = build_data(composed("benchmark=digits_long_tailed", *words))
    data.setup("fit")
    labels = digits().train.labels
    assert counts(data.fold.labeled, labels) == [20, 15, 11, 9, 7, 5, 4, 3, 2, 2]
    assert counts(data.fold.unlabeled, labels) == [110, 84, 64, 50, 39, 30, 23, 18, 13, 11]
