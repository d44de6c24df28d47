import tarfile
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from smoothpl.config.compose import compose_config
from smoothpl.config.knobs import TrainConfig
from smoothpl.config.recipe import LATER, is_recipe, not_in_name, recipe_digest, recipe_name
from smoothpl.record.record import read_below
from tests.support.composing import OWN, composed

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


@pytest.mark.parametrize("override", ["policy.warm_up_steps=100", "policy.gamma=1.2"])
def test_what_changes_a_part_is_part_of_the_recipe(override: str) -> None:
    assert recipe_digest(composed("method=dash", override)) != recipe_digest(composed("method=dash"))


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
    assert not is_recipe(knob, OmegaConf.select(composed("method=dash"), knob))
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
        ("method=flexmatch policy.warm_up=false", "08a57f6b"),
        ("method=freematch", "23ff9a86"),
        ("method=uda annealing=exp", "4dbc5de5"),
        ("method=dash", "aeb2b4b5"),
        (f"benchmark=folder {' '.join(OWN)}", "6c14fe98"),
    ],
)
def test_recipes_keep_their_digests(words: str, digest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that people have made are found by them. Who changes a recipe on purpose changes this, and says so."""
    monkeypatch.delenv("SMOOTHPL_DATA", raising=False)
    assert recipe_digest(composed(*words.split())) == digest


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Those of docs/results."""
    folder = tmp_path_factory.mktemp("records")
    with tarfile.open(Path(__file__).parents[2] / "docs" / "results" / "records.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def of_fold_0(part: Any) -> Any:
    """In a record fold and seed are resolved wherever parts refer to them."""
    if not isinstance(part, dict):
        return part
    return {key: 0 if key in ("fold", "seed") else of_fold_0(value) for key, value in part.items()}


def test_the_recorded_runs_are_still_of_the_same_recipes(records: Path) -> None:
    """What resume=auto and the report go by: every recipe of docs/results has the digest it had."""
    recorded = {record.recipe: record for record in read_below([records]).values()}
    assert len(recorded) > 50
    for digest, record in recorded.items():
        known = {name: [] for name in LATER} | record.config | {"resume": None, "resume_allow": []}
        config = OmegaConf.create(of_fold_0({name: known.get(name) for name in TrainConfig.__dataclass_fields__}))
        assert recipe_digest(config) == digest


@pytest.mark.parametrize("words", ["benchmark=digits_40 method=smooth", "benchmark=digits_20 method=fixmatch fold=3"])
def test_a_recorded_run_is_composed_again_as_the_same_recipe(words: str, records: Path) -> None:
    wanted = recipe_digest(compose_config(words.split()))
    assert wanted in {record.recipe for record in read_below([records]).values()}


def test_a_name_leaves_out_what_changes_nothing_that_is_learned() -> None:
    typed = [
        "threshold",
        "fold",
        "logger.wandb.offline",
        "compile",
        "data",
        "data.size",
        "trainer.devices",
        "experiment",
    ]
    assert not_in_name(typed) == [each for each in typed if each not in ("threshold", "data.size")]
    assert not_in_name(["smooth_unlabeled_weight"]) == []


@pytest.mark.parametrize("knob", ["fold", "seed"])
def test_a_part_that_refers_to_the_fold_or_the_seed_makes_no_other_recipe(knob: str) -> None:
    one, other = composed(f"{knob}=1"), composed(f"{knob}=2")
    for config in (one, other):
        OmegaConf.update(config, "net.chance", f"${{{knob}}}", force_add=True)
    assert recipe_digest(one) == recipe_digest(other)
