from smoothpl.metrics.instability import sudden_rises


def test_a_sudden_rise_is_large_and_late() -> None:
    errors = [90.0, 20.0, 60.0, 10.0, 9.0, 14.0, 13.9, 18.8]
    history = [(100 * number, error) for number, error in enumerate(errors, start=1)]
    assert sudden_rises(history) == [(600, 9.0, 14.0)]
    assert sudden_rises([]) == []
