import pytest

from smoothpl.config.checks import check
from smoothpl.config.checks.verdict import trains_quickly
from smoothpl.errors import ConfigError
from tests.support.composing import OWN, composed

FEATURES = "backbone=efficientnet_lite0"


@pytest.mark.parametrize(
    "words",
    [
        ["verdict=tell"],
        ["verdict=tell", "method=supervised"],
        ["verdict=choose", FEATURES],
        ["verdict=tell", "verdict.action=choose", FEATURES],
        ["verdict=choose", "benchmark=folder", *OWN],
        ["verdict=choose", "benchmark=folder", *OWN, "data.folds=0", FEATURES],
    ],
)
def test_what_can_be_compared_and_may_choose_is_accepted(words: list[str]) -> None:
    check(composed(*words), words)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["verdict=tell", "verdict.action=guess"], "verdict.action=guess must be tell or choose"),
        (["verdict=tell", "trainer=ddp"], "with trainer=ddp use verdict=none, and compare with a run of method=super"),
        (["verdict=choose"], "verdict=choose may not choose by test images.*use verdict=tell, or a backbone"),
        (["verdict=choose", "benchmark=folder", *OWN, "data.folds=0"], "may not choose by test images"),
    ],
)
def test_what_cannot_is_refused(words: list[str], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        check(composed(*words), words)


def test_only_a_head_on_frozen_features_trains_quickly() -> None:
    assert trains_quickly(composed(FEATURES))
    assert not trains_quickly(composed())
    assert not trains_quickly(composed(FEATURES, "finetune=norms"))
