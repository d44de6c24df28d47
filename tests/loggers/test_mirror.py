import pytest
from matplotlib.figure import Figure

from smoothpl.loggers.mirror import SUMMARY
from smoothpl.record.record import Evaluation, Record
from tests.loggers.wall import Fragile, Wall


def test_a_mirror_that_breaks_is_let_go_and_the_run_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    mirror = Wall()
    mirror.log_metrics({"a": 1.0}, 1)
    mirror.log_hyperparams({})
    mirror.log_metrics({"a": 2.0}, 2)
    mirror.log_picture("picture", Figure(), 2)
    mirror.summarise(Record({}, "recipe"), "failed")
    mirror.finalize("success")
    assert isinstance(mirror.logger, Fragile)
    assert mirror.logger.heard == [1]
    assert (mirror.hung, mirror.summary) == ([], {})
    assert capsys.readouterr().err == "Fragile is lost (no network); the run goes on without it.\n"


def test_a_summary_has_the_values_and_the_names_of_the_record() -> None:
    record = Record({}, "recipe", status="finished")
    record.take_history([Evaluation(1, 20.0, []), Evaluation(2, 25.0, [3])])
    mirror = Wall()
    mirror.summarise(record, "interrupted")
    assert set(mirror.summary) == set(SUMMARY)
    assert mirror.summary["error"] == 25.0
    assert mirror.summary["status"] == "interrupted"
    assert mirror.summary["error_gap"] == 5.0
    assert mirror.summary["collapsed"] == [3]
