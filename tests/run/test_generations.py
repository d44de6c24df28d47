"""Generations: chains of real runs, one that was stopped among them, and what is refused."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

import smoothpl.run.generations as driver
from smoothpl.config.compose import compose_checked
from smoothpl.config.recipe import recipe_digest
from smoothpl.data.picked import Picked
from smoothpl.errors import ConfigError, Interruption
from smoothpl.layout import PICKED
from smoothpl.record.record import read
from smoothpl.results.report import Options, build_report
from smoothpl.results.runs import find_runs
from smoothpl.run.generations import Chain, Generation, generations
from smoothpl.run.training import train
from tests.support.backbones import TINY_BACKBONE

SHORT = (
    *("benchmark=digits_long_tailed", "max_steps=6", "eval_every=3", "log_every=3", "batch_size=4"),
    *("pictures=false", "logger=none", "callbacks.progress=null"),
)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def chain(number: int, *words: str) -> list[Generation]:
    typed = [*SHORT, *words]
    return list(generations(compose_checked(typed), number, typed))


def state_of(place: Path) -> dict[str, Any]:
    state: dict[str, Any] = torch.load(place / "last.ckpt", weights_only=True)["state_dict"]
    return state


def assert_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one.keys() == other.keys()
    assert all(torch.equal(one[key], other[key]) for key in one)


def test_one_generation_is_fixmatch(tmp_path: Path) -> None:
    (only,) = chain(1, "method=fixmatch")
    ordinary = train(compose_checked([*SHORT, "method=fixmatch"]), tmp_path / "ordinary")
    assert only.record.recipe == ordinary.recipe
    assert_same(state_of(only.place), state_of(tmp_path / "ordinary"))


def test_each_generation_learns_what_the_one_before_has_picked_and_its_record_names_it() -> None:
    first, second, third = chain(3, "method=fixmatch")
    for before, after in ((first, second), (second, third)):
        picked = Picked.read(before.place / PICKED)
        assert after.num_picked == len(picked.image) > 0
        assert after.record.config["data"]["picked"]["file"] == str(before.place / PICKED)
        assert not {*picked.image.tolist()} & {*after.record.labeled}
        assert {*picked.weight.tolist()} == {1.0}
    assert first.record.labeled == second.record.labeled == third.record.labeled  # those that were given
    assert len({each.record.recipe for each in (first, second, third)}) == 3
    assert not (third.place / PICKED).exists()
    assert not all(torch.equal(one, state_of(second.place)[key]) for key, one in state_of(first.place).items())


def test_the_words_of_a_record_give_the_same_run_again(tmp_path: Path) -> None:
    *_, last = chain(2, "method=fixmatch", "align=tempered_labels")
    config = compose_checked(read(last.place).overrides)
    assert recipe_digest(config) == last.record.recipe
    train(config, tmp_path / "again")
    assert_same(state_of(last.place), state_of(tmp_path / "again"))


def test_a_chain_that_was_stopped_goes_on_where_it_was_and_ends_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = chain(2, "method=smooth")
    kept = {each.place: state_of(each.place) for each in whole}
    shutil.rmtree("outputs")
    trained: list[Path] = []

    def stopping(config: Any, place: Path, name: str, words: Sequence[str]) -> Any:
        trained.append(place)
        if len(trained) == 2:
            raise Interruption("SIGTERM")
        return train(config, place, name, words)

    monkeypatch.setattr(driver, "train", stopping)
    with pytest.raises(Interruption):
        chain(2, "method=smooth")
    again = chain(2, "method=smooth")
    assert [each.record.resumed_at for each in again] == [[], []]
    for each in again:
        assert_same(state_of(each.place), kept[each.place])
    started = [read(each.place).started for each in again]
    assert [read(each.place).started for each in chain(2, "method=smooth")] == started  # nothing is trained again


def test_a_ramp_weighs_picked_images_by_rank_in_the_loss() -> None:
    first, _ = chain(2, "method=smooth")
    weight = Picked.read(first.place / PICKED).weight
    assert len({*weight.tolist()}) > 3
    assert 0 < weight.min() < weight.max() < 1


def test_the_power_of_an_alignment_falls_from_1_over_the_generations() -> None:
    config = compose_checked([*SHORT, "method=fixmatch", "align=tempered_labels"])
    assert [Chain(config, (), 6).power(each) for each in range(6)] == pytest.approx([1, 0.9, 0.8, 0.7, 0.6, 0.5])
    assert Chain(config, (), 1).power(0) == 1
    assert Chain(compose_checked([*SHORT, "method=fixmatch"]), (), 6).power(3) is None
    powers = [each.record.config["align"]["power"] for each in chain(2, "method=fixmatch", "align=tempered_labels")]
    assert powers == [1, 0.5]


@pytest.mark.parametrize(
    "words", [("method=smooth", *TINY_BACKBONE), ("method=supervised",)], ids=lambda words: words[0]
)
def test_it_works_on_features_and_from_labels_alone(words: tuple[str, ...]) -> None:
    *_, last = chain(2, *words)
    assert last.record.status == "finished"
    assert last.num_picked > 0


def test_a_report_tells_generations_apart() -> None:
    for method in ("fixmatch", "smooth"):
        chain(2, f"method={method}")
    report = build_report(find_runs([Path("outputs")]), Options(), with_pictures=False)
    labels = [row[0].text for row in report.sheets[0].rows]
    assert len(labels) == 4
    assert sum("generation=1" in label for label in labels) == 2


WRONG = {
    "resume=auto": "resume: leave it out; the same command goes on where it was",
    "labels_before=[10] num_labels=40 split=balanced": "labels_before: every generation starts from scratch",
    "verdict=tell": "verdict does not know several generations",
    "+data.picked.file=x": r"data\.picked is chosen by each generation",
    "method=softmatch": "shape=gaussian has no weight by rank for picked images",
    "method=mixmatch shape=linear": "method=mixmatch learns labels in other ways than by the labeled loss",
    "method=defixmatch shape=linear": "use shape=step, where they all weigh 1",
    "trainer=ddp": "generations are trained by one process",
}


@pytest.mark.parametrize("words", WRONG)
def test_what_cannot_be_a_chain_is_refused_before_any_work(words: str) -> None:
    with pytest.raises(ConfigError, match=WRONG[words]):
        chain(2, *words.split())
    assert not Path("outputs").exists()


def test_another_run_in_its_place_is_not_touched() -> None:
    first, _ = chain(2, "method=fixmatch")
    shutil.rmtree(first.place.parent / "1")
    shutil.copytree(first.place, first.place.parent / "1")
    with pytest.raises(ConfigError, match="holds a run of other settings than this generation; move it away"):
        chain(2, "method=fixmatch")
