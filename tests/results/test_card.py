from pathlib import Path
from typing import Any

import pytest

from smoothpl.errors import ConfigError
from smoothpl.record.record import Evaluation, LabelStage, Record
from smoothpl.results.card import card

NAMES = ["cat & <dog>", "bird", "fish"]


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


def test_labels_that_were_added_are_listed() -> None:
    record = made(label_history=[LabelStage(6, 0, "elsewhere"), LabelStage(9, 0, "")])
    facts = {row[0].text: row[1].text for row in card([record], [Path("run")], False).sections[0].sheets[0].rows}
    assert facts["labels"] == "6, then 9 in this run"
    assert facts["labeled images"] == "9"
    record.tested_on = "held out, part 0 of 2"
    assert "Labels that were added later may be among the test images" in sentences(record)
