import pytest

from smoothpl.config.checks import check
from smoothpl.errors import ConfigError
from tests.support.composing import composed

WRONG = {
    "labels_before=[40] num_labels=30": r"labels_before=\[40\], then num_labels=30: labels can only be added",
    "labels_before=[30,20]": r"each number must be larger than the one before",
    "labels_before=[0]": r"labels can only be added",
    "labels_before=[40] method=fully_supervised": r"labels_before=\[40\] has no effect: with this split every image",
    "labels_until_pause=[30]": r"labels_until_pause=\[30\] is set by resume when a run continues with more labels",
    "labels_until_pause=[30] resume=auto split.unlabeled_includes_labeled=false": r"would leave other unlabeled images",
    "num_labels=40 method=fully_supervised": r"num_labels=40 has no effect: split=full takes every label there is",
    "num_labels=null": r"num_labels=null, but split=balanced must know how many; for all use split=full",
    "num_labels=0": r"num_labels=0 must be a positive",
    "split=long_tailed": r"num_labels=40 has no effect: split=long_tailed counts from split\.labeled_head; add num_",
}


@pytest.mark.parametrize("words", WRONG)
def test_a_number_of_labels_that_cannot_be_is_refused_with_the_way_out(words: str) -> None:
    with pytest.raises(ConfigError, match=WRONG[words]):
        check(composed(*words.split()), words.split())
