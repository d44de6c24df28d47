import pytest

from smoothpl.config.checks import check
from smoothpl.config.checks.open_set import num_known
from smoothpl.errors import ConfigError
from tests.support.composing import OWN, composed

WRONG = {
    "data.num_classes=10": r"data.num_classes=10, but with unlabeled.known=6 the network learns 6 classes",
    "unlabeled.strangers=1": r"unlabeled.strangers=1 must lie in \[0, 1\)",
    "unlabeled.strangers=half": r"unlabeled.strangers=half must lie in",
    "unlabeled.known=1": r"unlabeled.known=1 must be a number of classes, at least 2",
    "unlabeled.known=[3,3]": r"unlabeled.known=\[3, 3\] must be a number of classes",
}


@pytest.mark.parametrize("word", WRONG)
def test_an_open_set_that_cannot_be_is_refused_with_the_way_out(word: str) -> None:
    words = ["unlabeled=open_set", word]
    with pytest.raises(ConfigError, match=WRONG[word]):
        check(composed(*words), words)


def test_labels_that_somebody_has_given_are_not_taken_away() -> None:
    words = ["benchmark=folder", *OWN, "unlabeled=open_set"]
    with pytest.raises(ConfigError, match="in data=folder labels are what you have given"):
        check(composed(*words, "data.num_classes=6"), words)


def test_classes_are_counted_or_numbered() -> None:
    assert num_known(6) == 6
    assert num_known([3, 5]) == 2
    assert composed("unlabeled=open_set", "unlabeled.known=[3,5,9]").data.num_classes == 3
