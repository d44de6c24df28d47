from itertools import product

from smoothpl.data.randomness import Stream, generator


def test_the_same_key_stream_and_step_draw_the_same_numbers_whatever_was_drawn_before() -> None:
    expected = generator(7, Stream.LABELED, 1000).random(5).tolist()
    generator(7, Stream.LABELED, 999).random(1_000_000)
    assert generator(7, Stream.LABELED, 1000).random(5).tolist() == expected


def test_keys_streams_and_steps_never_meet() -> None:
    draws = [
        tuple(generator(key, stream, step).random(3)) for key, stream, step in product(range(4), Stream, (0, 1, 2**20))
    ]
    assert len(set(draws)) == len(draws)


def test_a_step_that_draws_a_lot_does_not_run_into_the_next_one() -> None:
    this = set(generator(0, Stream.UNLABELED, 5).integers(2**62, size=100_000).tolist())
    assert this.isdisjoint(generator(0, Stream.UNLABELED, 6).integers(2**62, size=100_000).tolist())


def test_streams_keep_their_numbers_because_recorded_runs_depend_on_them() -> None:
    recorded = {"FOLD": 0, "LABELED": 1, "UNLABELED": 2, "TEST": 3, "IMBALANCE": 4}
    further = {"WEAK2": 7, "STRONG2": 8, "MEDIUM": 9, "SIMCLR": 10, "LABELED_STRONG": 11, "TURN": 12, "MIX": 13}
    stored = {"STORED_WEAK": 5, "STORED_STRONG": 6, "STORED_MEDIUM": 17, "STORED_SIMCLR": 18}
    further |= {"DROPOUT": 20, "OTHERS": 21, "SIMCLR2": 22, "STRANGERS": 24, "CHOOSING": 25}
    numbers = recorded | stored | further | {"NOISE": 14, "HEADS": 15, "BALANCE": 16}
    assert {stream.name: int(stream) for stream in Stream} == numbers
