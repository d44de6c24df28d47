from smoothpl.metrics.instability import sudden_falls


def test_a_fall_is_sudden_large_and_late() -> None:
    errors = [90.0, 20.0, 60.0, 10.0, 9.0, 14.0, 13.9, 18.8]
    history = [(100 * number, error) for number, error in enumerate(errors, start=1)]
    assert sudden_falls(history) == [(600, 9.0, 14.0)]
    assert sudden_falls([]) == []
