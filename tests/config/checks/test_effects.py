import pytest

from smoothpl.config.checks import check
from smoothpl.errors import ConfigError
from tests.support.composing import composed

WRONG = {
    "views=imagenet": r"these views need data\.size, which these data do not have; views=torchssl",
    "++data.flip=0.5": r"data\.flip=0\.5 has no effect with these views",
    "benchmark=cifar10_40 data.padding=8": r"data\.padding=8 has no effect with these views",
    "smooth_unlabeled_weight=2 method=fixmatch": r"smooth_unlabeled_weight=2 has no effect with method=fixmatch",
    "smooth_unlabeled_weight=2 unlabeled_weight=1": r"smooth_unlabeled_weight=2 has no effect",
    "method=pseudo_label views.strong.rotation=3": r"views\.strong\.rotation=3 has no effect with learned_view=weak",
    "+colour=blue": r"colour=blue was added to the configuration, but nothing reads it",
}


@pytest.mark.parametrize("words", WRONG)
def test_a_setting_that_would_have_no_effect_is_refused_with_the_way_out(words: str) -> None:
    with pytest.raises(ConfigError, match=WRONG[words]):
        check(composed(*words.split()), words.split())
