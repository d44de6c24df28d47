import pytest

from smoothpl.config.checks import check
from tests.support.composing import composed


@pytest.mark.parametrize(
    "words",
    [
        "seed=0",
        "benchmark=cifar10_40",
        "benchmark=cifar10_40 data.flip=0.0",
        "benchmark=cifar10_40 views=fixmatch data.padding=8",
        "data=imagenet data.size=64 num_labels=1000",
        "fold=0",
        "ema_decay=0",
        "smooth_unlabeled_weight=2",
        "method=pseudo_label shape=linear",
        "num_labels=10",
        "num_labels=43 split=random",
        "num_labels=43 split=imbalanced split.labeled_tail=10",
        "threshold_floor=0.95",
        "max_time=01:02:03",
    ],
)
def test_what_makes_sense_is_accepted(words: str) -> None:
    check(composed(*words.split()), words.split())
