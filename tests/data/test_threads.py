from smoothpl.data.threads import in_threads


def test_threads_keep_the_order_and_do_not_run_far_ahead() -> None:
    begun: list[int] = []
    results = in_threads(lambda item: (begun.append(item), item)[1], range(10_000))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    assert len(begun) < 1_000
    results.close()  # type: ignore[attr-defined]
    assert list(in_threads(abs, [-1, -2])) == [1, 2]
    assert list(in_threads(abs, [])) == []
