import pytest
from omegaconf import OmegaConf

from smoothpl.config.folder_defaults import FolderFacts, benchmark_defaults, choose, sides_up_to, usual_side
from smoothpl.config.knobs import conf_dir

FACTS = FolderFacts(
    num_images=32,
    num_labels=8,
    num_classes=2,
    num_test=0,
    images_digest="a1",
    labels_digest="a2",
    shorter_sides=[8, 8, 8],
    folds=2,
    fold=0,
)


def test_every_knob_that_depends_on_the_folder_is_chosen() -> None:
    assert choose(FACTS, None, None) == {
        "data": "folder",
        "benchmark": "folder",
        "data.num_classes": 2,
        "data.images_digest": "a1",
        "data.labels_digest": "a2",
        "data.size": 8,
        "data.folds": 2,
        "data.padding": 1,
        "num_labels": 8,
        **benchmark_defaults(),
    }


def test_what_was_typed_decides_what_follows_from_it() -> None:
    chosen = choose(FACTS, 64, 50)
    assert (chosen["data.size"], chosen["data.padding"], chosen["eval_every"]) == (64, 8, 5)
    assert choose(FACTS, None, 3)["eval_every"] == 1


def test_a_part_that_cannot_test_is_passed_over() -> None:
    assert choose(FACTS._replace(fold=1), None, None)["fold"] == 1
    assert "fold" not in choose(FACTS, None, None)


@pytest.mark.parametrize(
    ("num_images", "num_labels", "side", "expected"),
    [
        (4_999, 8, 32, ("wrn_10_1", 16, 1_000, 0.99)),
        (5_000, 8, 32, ("wrn_28_2", 16, 5_000, 0.99)),
        (5_000, 8, 16, ("wrn_10_1", 16, 5_000, 0.99)),
        (5_000, 401, 32, ("wrn_28_2", 64, 5_000, 0.99)),
        (50_000, 8, 32, ("wrn_28_2", 16, 50_000, 0.999)),
    ],
)
def test_more_images_are_learned_from_longer_and_by_a_larger_network(
    num_images: int, num_labels: int, side: int, expected: tuple[object, ...]
) -> None:
    chosen = choose(FACTS._replace(num_images=num_images, num_labels=num_labels), side, None)
    assert tuple(chosen[name] for name in ("net", "batch_size", "max_steps", "ema_decay")) == expected


@pytest.mark.parametrize(("sides", "side"), [([8], 8), ([9, 9, 200], 16), ([100, 90], 96), ([500], 96), ([], 32)])
def test_images_are_brought_to_the_first_size_that_is_no_smaller_than_they_are(sides: list[int], side: int) -> None:
    assert usual_side(sides) == side


@pytest.mark.parametrize(("side", "sides"), [(96, [96, 64, 32]), (32, [32]), (16, [16]), (8, [8])])
def test_smaller_images_save_time_but_are_never_so_small_that_they_show_little(side: int, sides: list[int]) -> None:
    assert sides_up_to(side) == sides


def test_the_defaults_are_those_of_the_benchmark() -> None:
    """One source: what stands in the YAML is not repeated in code."""
    written = OmegaConf.load(conf_dir() / "benchmark" / "folder.yaml")
    assert benchmark_defaults()["max_steps"] == written.max_steps == 1000
    assert {"override /net": benchmark_defaults()["net"]} in written.defaults
