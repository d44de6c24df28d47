from benchmarks import timing


def test_compare_tells_the_slower_job_from_the_faster_one() -> None:
    slow, fast = timing.compare(lambda: sum(range(100_000)), lambda: sum(range(100)), turns=2, seconds=0.01)
    assert slow > fast > 0
