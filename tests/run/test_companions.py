import pytest

from smoothpl.config.checks import check
from smoothpl.config.compose import compose_config
from smoothpl.config.recipe import recipe_digest
from smoothpl.data.parts import Part
from smoothpl.run.build import build_data, build_module
from smoothpl.run.companions import labels_only, lean, of_part
from tests.support.composing import OWN, composed, options

PSEUDO_LABELS = {
    "smooth": ["threshold=0.8", "threshold_floor=0.5", "score=margin", "unlabeled_ratio=3", "shape=sqrt"],
    "fixmatch": ["unlabeled_weight=2.0", "forward=split"],
    "flexmatch": ["policy.threshold=0.7"],
    "uda": ["annealing=linear"],
}
OTHERS = ("batch_size=8", "seed=3", "fold=2", "optim.learning_rate=0.01", "net=wrn_28_2")
LEARNING = [each for each in options("method") if "supervised" not in each]


@pytest.mark.parametrize("method", LEARNING)
def test_the_twin_is_what_one_would_have_typed_for_labels_alone(method: str) -> None:
    twin = labels_only(composed(f"method={method}", *PSEUDO_LABELS.get(method, []), *OTHERS))
    typed = composed("method=supervised", *OTHERS)
    assert recipe_digest(twin) == recipe_digest(typed)
    assert (twin.method, twin.fold, twin.seed) == ("supervised", 2, 3)
    assert build_module(twin).weighting is None


def test_the_twin_keeps_what_a_method_sets_besides_its_parts() -> None:
    own = composed("method=smooth")
    own.max_steps, own.optim.momentum = 77, 0.5
    twin = labels_only(own)
    assert (twin.max_steps, twin.optim.momentum) == (77, 0.5)
    assert own.policy is not None  # it is a copy


@pytest.mark.parametrize("words", [[], ["backbone=efficientnet_lite0"], ["method=supervised"]])
def test_a_lean_run_learns_the_same(words: list[str]) -> None:
    config = composed(*words, "compile=true", "callbacks.collapse.action=stop", "verdict=tell")
    beside = lean(config, {})
    assert recipe_digest(beside) == recipe_digest(config)
    assert beside.logger is None
    assert not beside.compile
    assert beside.trainer.val_check_interval == config.max_steps
    assert [name for name, each in beside.callbacks.items() if each] == (["ema"] if words[:1] == LEARNS_FAST else SHOWN)


LEARNS_FAST, SHOWN = ["backbone=efficientnet_lite0"], ["ema", "progress"]


def test_the_twin_has_no_unlabeled_images_to_judge_a_collapse_by() -> None:
    twin = labels_only(composed("callbacks.collapse.by=unlabeled"))
    assert twin.callbacks.collapse.by == "test"
    check(twin)


def test_what_takes_long_is_saved_and_shown_as_often_as_before() -> None:
    beside = lean(composed("eval_every=50"), {})
    assert (beside.checkpoint_every, beside.eval_every) == (50, beside.max_steps)


def test_what_repairs_coverage_is_no_watching_and_stays_but_not_in_the_twin() -> None:
    config = composed("backbone=efficientnet_lite0", "callbacks.coverage.action=repair", "eval_every=20")
    assert lean(config, {}).callbacks.coverage.every == 20
    assert recipe_digest(lean(config, {})) == recipe_digest(config)
    assert lean(labels_only(config), {}).callbacks.coverage is None


def test_a_weight_that_was_measured_is_not_measured_again() -> None:
    assert lean(composed("unlabeled_weight=auto"), {"unlabeled_weight": 1.75}).unlabeled_weight == 1.75


def test_runs_beside_a_run_begin_from_scratch_also_where_that_had_a_parent() -> None:
    """Weights that have seen a label must not be tested on it."""
    beside = lean(composed("labels_before=[20]"), {})
    assert (list(beside.labels_before), beside.resume) == ([], "auto")


def test_a_part_of_a_folder_is_its_fold() -> None:
    own = compose_config(["benchmark=folder", *OWN, "fold=1"])
    other = of_part(own, Part(5, 3))
    assert (other.fold, own.fold) == (3, 1)
    assert recipe_digest(other) == recipe_digest(own)


def test_a_part_in_place_of_test_images_is_another_recipe_with_fewer_labels() -> None:
    own = composed("num_labels=40")
    part = of_part(own, Part(5, 3))
    assert recipe_digest(part) != recipe_digest(own)
    data = build_data(part)
    data.setup("fit")
    assert (len(data.fold.labeled), len(data.source.test)) == (32, 8)
    assert data.source.tested_on == "labeled images held out, part 3 of 5"
