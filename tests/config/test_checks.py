import pytest

from smoothpl.config.checks import check
from smoothpl.config.checks.trainer import seconds
from smoothpl.errors import ConfigError
from tests.support.composing import composed

WRONG = {
    "threshold=1": r"threshold=1\.0 must lie strictly between 0 and 1.*0\.95",
    "threshold=0": r"threshold=0\.0 must lie strictly",
    "threshold=-0.5": r"threshold=-0\.5 must lie strictly",
    "threshold=nan": r"threshold=nan must lie strictly",
    "threshold=null": r"threshold=null, but method=smooth needs a threshold",
    "labels_before=[40] num_labels=30": r"labels_before=\[40\], then num_labels=30: labels can only be added",
    "labels_before=[30,20]": r"each number must be larger than the one before",
    "labels_before=[0]": r"labels can only be added",
    "labels_before=[40] method=fully_supervised": r"labels_before=\[40\] has no effect: with this split every image",
    "labels_until_pause=[30]": r"labels_until_pause=\[30\] is set by resume when a run continues with more labels",
    "labels_until_pause=[30] resume=auto split.unlabeled_includes_labeled=false": r"would leave other unlabeled images",
    "views=imagenet": r"these views need data\.size, which these data do not have; views=torchssl",
    "++data.flip=0.5": r"data\.flip=0\.5 has no effect with these views",
    "benchmark=cifar10_40 data.padding=8": r"data\.padding=8 has no effect with these views",
    "num_labels=40 method=fully_supervised": r"num_labels=40 has no effect: split=full takes every label there is",
    "num_labels=null": r"num_labels=null, but split=balanced must know how many; for all use split=full",
    "threshold=0.9 method=freematch": r"threshold=0\.9 has no effect: this policy finds its own",
    "threshold_floor=0.97": r"threshold_floor=0\.97 is above threshold=0\.95",
    "threshold_floor=-1": r"threshold_floor=-1\.0 must lie in \[0, 1\)",
    "score=luck": r"score=luck must be confidence or margin",
    "smooth=very": r"smooth=very must be allow or strict",
    "align=uniform method=supervised": r"align would have no effect",
    "num_labels=0": r"num_labels=0 must be a positive",
    "max_steps=0": r"max_steps=0 must be a positive",
    "batch_size=-1": r"batch_size=-1 must be a positive",
    "eval_every=0": r"eval_every=0 must be a positive",
    "log_every=0": r"log_every=0 must be a positive",
    "fold=-1": r"fold=-1 must be a whole number from 0",
    "seed=-1": r"seed=-1 must be a whole number from 0",
    "seed=4294967296": r"seed=4294967296 must be a whole number from 0 to 2\^32 - 1",
    "ema_decay=1": r"ema_decay=1\.0 must lie in \[0, 1\)",
    "norm_momentum=0": r"norm_momentum=0\.0 must lie in \(0, 1\]",
    "unlabeled_weight=0": r"unlabeled_weight=0 must be a positive number, or auto to measure it.*method=supervised",
    "unlabeled_weight=much": r"unlabeled_weight=much must be a positive number, or auto",
    "unlabeled_weight=inf": r"unlabeled_weight=inf must be a positive number",
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
    "smooth_unlabeled_weight=2 method=fixmatch": r"smooth_unlabeled_weight=2 has no effect with method=fixmatch",
    "smooth_unlabeled_weight=2 unlabeled_weight=1": r"smooth_unlabeled_weight=2 has no effect",
    "policy=fixed method=supervised": r"policy would have no effect: method=supervised",
    "~shape": r"shape=null, but method=smooth needs a shape",
    "method=pseudo_label views.strong.rotation=3": r"views\.strong\.rotation=3 has no effect with learned_view=weak",
    "callbacks.ema=null": r"for no averaging use ema_decay=0",
    "data.num_workers=-1": r"data\.num_workers=-1 must be 0 or a positive",
    "trainer.max_steps=2": r"trainer\.max_steps=2 contradicts max_steps; set max_steps itself",
    "trainer.val_check_interval=2": r"trainer\.val_check_interval=2 contradicts eval_every",
    "trainer.devices=2": r"trainer\.devices=2: more than one device needs trainer=ddp as well",
    "trainer.accumulate_grad_batches=2": r"trainer\.accumulate_grad_batches=2 contradicts accumulate",
    "trainer.val_check_interval=7": r"trainer\.val_check_interval=7 contradicts eval_every",
    "+trainer.max_time=00:01:00:00": r"trainer\.max_time=.* would stop a resumed run at once; use max_time",
    "max_time=soon": r"max_time=soon must be hours:minutes:seconds, for example max_time=23:30:00",
    "forward=both": r"forward=both must be joint or split",
    "forward=split factor_weight=0.1": r"forward=split leaves the weak view without .* factor_weight=0.1 needs",
    "forward=split method=pseudo_label": r"but learned_view=weak learns from it",
    "forward=split method=supervised": r"forward=split has no effect: there is no weak view",
    "accumulate=3": r"accumulate=3 does not divide batch_size=16 into equal parts",
    "accumulate=0": r"accumulate=0 must be a positive whole number",
    "checkpoint_every=0": r"checkpoint_every=0 must be a positive whole number",
    "+colour=blue": r"colour=blue was added to the configuration, but nothing reads it",
}


@pytest.mark.parametrize("words", WRONG)
def test_a_contradiction_is_refused_with_knob_value_rule_and_way_out(words: str) -> None:
    overrides = words.split()
    with pytest.raises(ConfigError, match=WRONG[words]):
        check(composed(*overrides), overrides)


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


@pytest.mark.parametrize(
    ("time", "number"),
    [("01:02:03", 3723), ("100:00:00", 360000), ("0:0:0", 0), ("1:00", None), ("1:2:x", None), ("", None)],
)
def test_a_time_is_hours_minutes_and_seconds(time: str, number: int | None) -> None:
    assert seconds(time) == number
