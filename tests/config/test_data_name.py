from pathlib import Path
from typing import Any

import pytest

from smoothpl.config.data_name import data_name, plain_name, source_of_benchmark
from smoothpl.config.recipe import plain, recipe_digest
from tests.support.composing import OWN, composed, options


@pytest.mark.parametrize("benchmark", sorted({*options("benchmark")} - {"folder"}))
def test_the_data_of_a_benchmark_have_its_name(benchmark: str) -> None:
    assert data_name(composed(f"benchmark={benchmark}")) == benchmark


@pytest.mark.parametrize("data", sorted({*options("data")} - {"folder", "digits", "imagenet"}))
def test_other_data_have_their_own(data: str) -> None:
    assert data_name(composed(f"data={data}")) == data


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["data=imagenet", "data.root=/photos/birds"], "birds"),
        (["benchmark=imagenet_10pct", "data.root=/photos/birds"], "imagenet_10pct"),
        (["benchmark=folder", "data=folder", *OWN, "data.root='/my photos, 2026/'"], "my_photos_2026"),
        (["benchmark=folder", "data=folder", *OWN, "data.root=/x", "data.name=birds"], "birds"),
        (["benchmark=cifar10_40", "data=digits"], "digits"),
        (["unlabeled=open_set", "unlabeled.known=[2, 3]"], "digits_40_known=2_3"),
        (["data.source._target_=mine.flowers", "~data.name"], "flowers"),
        (["data.source._target_=mine.flowers", "data.name=roses"], "roses"),
    ],
)
def test_data_of_ones_own_name_themselves(words: list[str], name: str) -> None:
    assert data_name(composed(*words)) == name
    assert data_name(plain(composed(*words))) == name


def test_a_benchmark_of_ones_own_keeps_its_name() -> None:
    config = composed("data=cifar10")
    config.benchmark = "mine"
    assert data_name(config) == "mine"
    assert source_of_benchmark("mine") is None


def test_older_records_name_their_folder_too() -> None:
    record: dict[str, Any] = plain(composed("benchmark=folder", "data=folder", *OWN, "data.root=/photos/birds"))
    del record["data"]["name"]
    assert data_name(record) == "birds"


def test_a_record_that_says_little_is_named_by_its_benchmark() -> None:
    assert data_name({"benchmark": "digits_40", "data": {}}) == "digits_40"


def test_the_name_is_no_part_of_a_recipe() -> None:
    assert recipe_digest(composed("data.name=mine")) == recipe_digest(composed())


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("birds", "birds"),
        ("a/b c", "b_c"),
        ("/", "data"),
        ("~", plain_name(str(Path.home()))),
    ],
)
def test_a_name_fits_into_a_path(place: str, name: str) -> None:
    assert plain_name(place) == name


def test_a_name_cannot_steer_a_terminal() -> None:
    assert plain_name("/photos/\x1b[31mred\n") == "31mred"
