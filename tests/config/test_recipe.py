import pytest

from smoothpl.config.recipe import LATER, is_recipe, recipe_digest, recipe_name
from tests.composing import composed

SAME = [
    "fold=3",
    "seed=7",
    "eval_every=7",
    "log_every=3",
    "logger=none",
    "trainer.accelerator=cpu",
    "trainer=ddp",
    "compile=true",
    "deterministic=false",
    "resume=auto",
    "data.num_workers=2",
]
OTHER = [
    "threshold=0.9",
    "shape=sqrt",
    "net.width=2",
    "max_steps=7",
    "num_labels=50",
    "labels_before=[30]",
    "labels_until_pause=[30]",
    "optim.momentum=0.5",
    "ema_decay=0",
]


@pytest.mark.parametrize("override", SAME)
def test_which_run_it_is_and_who_watches_is_not_part_of_the_recipe(override: str) -> None:
    assert recipe_digest(composed(override)) == recipe_digest(composed())


@pytest.mark.parametrize("override", OTHER)
def test_all_that_changes_what_is_learned_is_part_of_the_recipe(override: str) -> None:
    assert recipe_digest(composed(override)) != recipe_digest(composed())


def test_what_was_composed_counts_and_not_the_name_of_the_method() -> None:
    by_hand = composed("method=fixmatch", "shape=linear", "unlabeled_weight=${smooth_unlabeled_weight}")
    assert recipe_digest(by_hand) == recipe_digest(composed("method=smooth"))
    assert recipe_digest(composed("method=fixmatch")) != recipe_digest(composed("method=smooth"))


def test_a_name_is_a_directory_that_every_file_system_takes() -> None:
    name = recipe_name(composed(), "data.root=/a/b," + "x" * 500)
    assert name.startswith("smooth,data.root=_a_b,xxx")
    assert name.endswith(recipe_digest(composed()))
    assert len(name.encode()) < 255
    assert recipe_name(composed()) == f"smooth,{recipe_digest(composed())}"


def test_a_number_is_the_same_with_and_without_a_point() -> None:
    one, other = (composed("shape=power", f"shape.mu={mu}") for mu in ("2", "2.0"))
    assert recipe_digest(one) == recipe_digest(other)


@pytest.mark.parametrize("knob", LATER)
def test_a_knob_that_came_later_says_nothing_until_it_is_used(knob: str) -> None:
    """So that runs of earlier versions are still of the same recipe."""
    assert not is_recipe(knob, composed()[knob])
    assert is_recipe(knob, [30])


def test_a_name_tells_of_earlier_labels() -> None:
    config = composed("num_labels=60", "labels_before=[40,50]")
    assert recipe_name(config, "num_labels=60") == f"smooth,num_labels=60,after=40-50,{recipe_digest(config)}"


@pytest.mark.parametrize(
    ("words", "digest"),
    [
        ("method=smooth", "dc627b35"),
        ("method=fixmatch threshold=0.9", "191f038d"),
        ("benchmark=cifar10_40 method=flexmatch", "56afc769"),
    ],
)
def test_recipes_keep_their_digests(words: str, digest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that people have made are found by them. Who changes a recipe on purpose changes this, and says so."""
    monkeypatch.delenv("SMOOTHPL_DATA", raising=False)
    assert recipe_digest(composed(*words.split())) == digest
