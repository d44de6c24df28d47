import pytest
from matplotlib.figure import Figure

from smoothpl.loggers.external import SUMMARY
from smoothpl.record.record import Evaluation, Record
from tests.support.wall import Fragile, Wall


def test_a_logger_that_fails_is_reported_once_and_not_used_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    wall = Wall()
    wall.log_metrics({"a": 1.0}, 1)
    wall.log_hyperparams({})
    wall.log_metrics({"a": 2.0}, 2)
    wall.log_picture("picture", Figure(), 2)
    wall.summarise(Record({}, "recipe"), "failed")
    wall.finalize("success")
    assert isinstance(wall.logger, Fragile)
    assert wall.logger.steps == [1]
    assert (wall.pictures, wall.summary) == ([], {})
    assert capsys.readouterr().err == "Fragile failed (no network); the run continues without it.\n"


def test_a_summary_has_the_values_and_the_names_of_the_record() -> None:
    record = Record({}, "recipe", status="finished")
    record.take_history([Evaluation(1, 20.0, []), Evaluation(2, 25.0, [3])])
    wall = Wall()
    wall.summarise(record, "interrupted")
    assert set(wall.summary) == set(SUMMARY)
    assert wall.summary["error"] == 25.0
    assert wall.summary["status"] == "interrupted"
    assert wall.summary["error_gap"] == 5.0
    assert wall.summary["collapsed"] == [3]
