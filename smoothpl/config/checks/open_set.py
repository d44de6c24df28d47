"""Open set: which classes are known, and that these data can have others."""

from collections.abc import Sequence
from typing import Any

from omegaconf import DictConfig

from smoothpl.errors import require


def num_known(known: Any) -> int:
    """How many classes are meant by `unlabeled.known`; data.num_classes is made of it."""
    is_list = isinstance(known, Sequence) and not isinstance(known, str)
    number = len(known) if is_list else known
    require(
        type(number) is int
        and number >= 2
        and (not is_list or (len({*known}) == number and all(type(each) is int and each >= 0 for each in known))),
        f"unlabeled.known={known} must be a number of classes, at least 2, or a list of different class numbers, for "
        "example [2,3,4].",
    )
    return int(number)


def check_open_set(config: DictConfig) -> None:
    if config.unlabeled is None:
        return
    require(
        "num_labels" not in config.data.source,
        "unlabeled=open_set takes the labels of some classes away, and in data=folder labels are what you have given; "
        "leave the images of other classes among the unlabeled ones yourself, or use a published data set.",
    )
    number = num_known(config.unlabeled.known)
    require(
        config.data.num_classes == number,
        f"data.num_classes={config.data.num_classes}, but with unlabeled.known={config.unlabeled.known} the network "
        f"learns {number} classes; leave data.num_classes out.",
    )
    require(
        type(config.unlabeled.strangers) in (int, float) and 0 <= config.unlabeled.strangers < 1,
        f"unlabeled.strangers={config.unlabeled.strangers} must lie in [0, 1): a share of the unlabeled images.",
    )
