import pytest

from smoothpl.config.checks import check
from smoothpl.errors import ConfigError
from tests.support.composing import composed

WRONG = {
    "threshold=1": r"threshold=1\.0 must lie strictly between 0 and 1.*0\.95",
    "threshold=0": r"threshold=0\.0 must lie strictly",
    "threshold=-0.5": r"threshold=-0\.5 must lie strictly",
    "threshold=nan": r"threshold=nan must lie strictly",
    "threshold=null": r"threshold=null, but method=smooth needs a threshold",
    "threshold=0.9 method=freematch": r"threshold=0\.9 has no effect: this policy finds its own",
    "threshold_floor=0.97": r"threshold_floor=0\.97 is above threshold=0\.95",
    "threshold_floor=-1": r"threshold_floor=-1\.0 must lie in \[0, 1\)",
    "score=luck": r"score=luck must be confidence or margin",
    "smooth=very": r"smooth=very must be allow or strict",
    "align=uniform method=supervised": r"align would have no effect",
    "unlabeled_weight=0": r"unlabeled_weight=0 must be a positive number, or auto to measure it.*method=supervised",
    "unlabeled_weight=much": r"unlabeled_weight=much must be a positive number, or auto",
    "unlabeled_weight=inf": r"unlabeled_weight=inf must be a positive number",
    "method=dash policy.warm_up_steps=1000": r"policy.warm_up_steps=1000 is not below max_steps=1000: no pseudo-label",
    "callbacks.collapse.by=unlabeled method=supervised": r"callbacks.collapse.by=unlabeled has no effect: .* use test",
    "annealing=exp method=supervised": r"annealing would have no effect",
    "fairness=freematch method=supervised": r"fairness would have no effect",
    "unlabeled_ratio=0": r"unlabeled_ratio=0 must be positive.*method=supervised",
    "learned_view=side": r"learned_view=side must be strong .* or weak",
    "factor_weight=-1": r"factor_weight=-1\.0 must not be negative",
    "shape=linear method=supervised": r"shape would have no effect: method=supervised",
    "threshold=0.9 method=supervised": r"threshold would have no effect",
    "unlabeled_ratio=7 unlabeled_weight=1 method=supervised": r"unlabeled_weight, unlabeled_ratio would have no effect",
    "target=hard method=supervised": r"target would have no effect",
    "factor_weight=0.1 method=supervised": r"factor_weight would have no effect",
    "policy=fixed method=supervised": r"policy would have no effect: method=supervised",
    "~shape": r"shape=null, but method=smooth needs a shape",
    "forward=both": r"forward=both must be joint, split or apart",
    "forward=split factor_weight=0.1": r"forward=split leaves the weak view without .* factor_weight=0.1 needs",
    "forward=split method=pseudo_label": r"but learned_view=weak learns from it",
    "forward=split method=supervised": r"forward=split has no effect: there is no weak view",
}


@pytest.mark.parametrize("words", WRONG)
def test_parts_that_do_not_go_together_are_refused_with_the_way_out(words: str) -> None:
    with pytest.raises(ConfigError, match=WRONG[words]):
        check(composed(*words.split()), words.split())


def test_nobody_is_told_off_for_a_threshold_that_the_benchmark_has_and_the_policy_does_not_need() -> None:
    words = ["policy=self_adaptive"]
    assert composed(*words).threshold == 0.95
    check(composed(*words), words)
    labels_only = ["method=supervised"]
    config = composed(*labels_only)
    config.threshold = 0.95  # as a method of one's own leaves it
    check(config, labels_only)
