from pathlib import Path
from typing import Any

import pytest

from smoothpl.errors import ConfigError
from smoothpl.layout import PHOTOGRAPHS
from smoothpl.metrics.paired import PairedErrors
from smoothpl.record.photographs import Photograph, write_photographs
from smoothpl.record.record import Evaluation, LabelStage, Record, write
from smoothpl.record.verdict import HeldOut, judge
from smoothpl.results.card import card
from tests.results.test_photographs import PICTURE

NAMES = ["cat & <dog>", "bird", "fish"]
TITLES = ["What it can do", "Classes", "Configuration"]


def made(confusion: Any = ((5, 1, 0), (2, 2, 0), (0, 0, 0)), recipe: str = "abc", fold: int = 0, **more: Any) -> Record:
    config = {"benchmark": "folder", "data": {"root": "photos"}, "num_labels": 9, "net": {"depth": 10}}
    config |= {"seed": 1, "fold": fold}
    record = Record(config, recipe, "smooth,abc", class_names=NAMES, labeled_per_class=[3, 3, 3])
    record.label_history = [LabelStage(9, 0, "")]
    record.status, record.confusion, record.calibration_error = "finished", [list(row) for row in confusion], 0.05
    record.num_test = sum(map(sum, record.confusion))
    right = sum(row[c] for c, row in enumerate(record.confusion))
    record.take_history([Evaluation(10, 100 * (record.num_test - right) / max(record.num_test, 1), [])])
    for name, value in more.items():
        setattr(record, name, value)
    return record


def sentences(*records: Record) -> str:
    places = [Path(f"run{number}") for number in range(len(records))]
    return " ".join(card(records, places, with_pictures=False).sections[0].sentences)


def test_the_error_has_its_interval() -> None:
    assert "Error 30.00 % of 10 test images; 95 % interval: 10.78 to 60.32 %." in sentences(made())


def test_what_is_not_known_or_not_to_be_trusted_is_said_first() -> None:
    assert "Nothing is known about fish: no test images." in sentences(made())
    assert "COLLAPSED, not to be trusted: fish." in sentences(made(((5, 1, 0), (2, 2, 0), (1, 2, 0))))
    assert "The error rose suddenly 1 time in" in sentences(made(instability=[(10, 3.0, 30.0)]))
    assert "One part of few labels says little" in sentences(made(tested_on="labeled images held out, part 0 of 5"))


def test_runs_on_other_folds_are_one_estimate() -> None:
    held: dict[str, Any] = {"tested_on": "held out, part 0 of 2"}
    together = sentences(made(**held), made(((9, 1, 0), (0, 0, 0), (0, 0, 0)), fold=1, **held))
    assert "Error 20.00 % of 20 held out, part 0 of 2 and 1 other part;" in together
    with pytest.raises(ConfigError, match="run0 and run1 differ in recipe or seed"):
        sentences(made(), made(recipe="other"))
    with pytest.raises(
        ConfigError, match=r"run1 is failed; only a finished run has a card\. To continue it: resume=run1"
    ):
        sentences(made(), made(status="failed"))
    with pytest.raises(ConfigError, match="tested on the same images, which cannot be counted twice"):
        sentences(made(), made(fold=1))
    with pytest.raises(ConfigError, match="tested on the same images"):
        sentences(made(**held), made(**held))


def test_every_class_has_a_row_with_what_it_is_mistaken_for() -> None:
    report = card([made(((5, 1, 0), (2, 2, 0), (1, 2, 0)))], [Path("run")])
    rows = [[cell.text for cell in row] for row in report.sections[1].sheets[0].rows]
    assert rows == [
        ["cat & <dog>", "3", "6", "83.3", "bird (1)", ""],
        ["bird", "3", "4", "50.0", "cat & <dog> (2)", ""],
        ["fish", "3", "3", "0.0", "bird (2)", "collapsed"],
    ]
    (chart,) = report.charts
    assert "<svg" in chart.svg
    assert ["depth" in row[0].text for row in report.sections[2].sheets[0].rows][-1]


def facts_of(record: Record) -> dict[str, str]:
    return {row[0].text: row[1].text for row in card([record], [Path("run")], False).sections[0].sheets[0].rows}


@pytest.mark.parametrize(
    ("places", "title"),
    [
        (["runs/first"], "first"),
        (["outputs/folder/smooth,abc/fold=0,seed=1/2026-11-17_05-27-47-123456"], "smooth,abc"),
        (["sweeps/mine/fold=0,job=0", "sweeps/mine/fold=1,job=1"], "mine"),
        (["outputs/a", "outputs/b"], "smooth,abc"),
    ],
)
def test_the_title_is_the_name_that_somebody_gave_to_the_run(places: list[str], title: str) -> None:
    held = [made(fold=fold, tested_on="held out, part 0 of 2") for fold, _ in enumerate(places)]
    assert card(held, [Path(place) for place in places], False).title == title


def test_the_verdict_comes_first() -> None:
    first, second = card([made()], [Path("run")], False).sections[0].sentences[:2]
    assert first.startswith("Not clearly better than guessing: always answering cat & <dog> would be wrong on 40 %")
    assert second.startswith("Error 30.00 %")


def test_unlabeled_images_are_counted() -> None:
    record = made(num_unlabeled=800)
    assert facts_of(record)["unlabeled images"] == "800"
    record.config["split"] = {"unlabeled_includes_labeled": True}
    assert facts_of(record)["unlabeled images"] == "800, the labeled ones among them"
    record.config["unlabeled_ratio"] = 0
    assert facts_of(record)["unlabeled images"] == "none"
    assert facts_of(made())["unlabeled images"] == "not recorded"  # by an earlier version


def test_numbers_stand_in_the_cells_of_the_confusion() -> None:
    (chart,) = card([made(((51, 17, 0), (2, 39, 0), (0, 0, 0)))], [Path("run")]).charts
    assert all(f">{number}<" in chart.svg for number in (51, 17, 39))


def test_photographs_are_shown_where_there_are_some(tmp_path: Path) -> None:
    assert [section.title for section in card([made()], [tmp_path]).sections] == TITLES
    write_photographs(tmp_path, [Photograph(0, 0, 0.9, PICTURE), Photograph(0, 1, 0.8, PICTURE)])
    section = card([made()], [tmp_path]).sections[2]
    assert section.title == "Photographs"
    assert [row.name for row in section.photographs] == ["cat & <dog>"]
    (tmp_path / PHOTOGRAPHS).write_text('[{"true": 1e99}]')
    assert [section.title for section in card([made()], [tmp_path]).sections] == TITLES


def test_labels_that_were_added_are_listed() -> None:
    record = made(label_history=[LabelStage(6, 0, "elsewhere"), LabelStage(9, 0, "")])
    facts = facts_of(record)
    assert facts["labels"] == "6, then 9 in this run"
    assert facts["labeled images"] == "9"
    record.tested_on = "held out, part 0 of 2"
    assert "Labels that were added later may be among the test images" in sentences(record)


def test_the_card_is_that_of_the_network_that_is_handed_over(tmp_path: Path) -> None:
    pairs = PairedErrors(10, 2, 1, 3)
    record = made(verdict=judge(pairs, "labeled images", HeldOut(pairs, 1.5, 1.25, 5)), handed_over="labels_only")
    record.config["verdict"] = {"action": "choose"}
    (tmp_path / "labels_only").mkdir()
    write(tmp_path / "labels_only", made(((5, 1, 0), (0, 4, 0), (0, 0, 0)), recipe="twin", fold=0))
    report = card([record], [tmp_path], with_pictures=False)
    said = report.sections[0].sentences
    assert said[0].startswith(
        "Handed over is the network of labels alone: on 10 labels, held out in 5 parts, the loss at the best "
    )
    assert said[1].startswith("Cannot tell with so few labels whether the unlabeled images helped")
    assert "Error 10.00 % of 10 test images" in " ".join(said)
    assert report.title == tmp_path.name


def test_what_several_parts_found_together_is_said_once() -> None:
    pairs = PairedErrors(20, 2, 1, 3)
    more: dict[str, Any] = {
        "tested_on": "held out, part 0 of 2",
        "verdict": judge(pairs, "labeled images", HeldOut(pairs, 1.5, 1.25, 2)),
    }
    assert sentences(made(**more), made(fold=1, **more)).count("whether the unlabeled images helped") == 1


def test_uneven_classes_stand_from_the_head_to_the_tail_with_their_balanced_error() -> None:
    uneven = made(((5, 1, 0), (2, 2, 0), (1, 1, 1)), labeled_per_class=[2, 1, 9])
    _, sentence, balanced = card([uneven], [Path("run")], False).sections[0].sentences[:3]
    assert sentence.startswith("Error 38.46 %")
    assert balanced == "Balanced error 44.44 %: the mean of the errors of the classes."  # 1/6, 1/2 and 2/3
    rows = card([uneven], [Path("run")], False).sections[1].sheets[0].rows
    assert [row[0].text for row in rows] == ["fish", "cat & <dog>", "bird"]
    even = made(((5, 1, 0), (2, 4, 0), (1, 1, 4)))
    assert "Balanced" not in sentences(even)


def test_labels_that_follow_from_a_split_are_counted() -> None:
    record = made(label_history=[], labeled=[3, 5, 8])
    assert facts_of(record)["labels"] == "all"
    record.config["split"] = {"labeled_head": 2}
    assert facts_of(record)["labels"] == "3"
