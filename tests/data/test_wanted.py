import numpy as np
import pytest
import torch

from smoothpl.data.randomness import Stream, generator
from smoothpl.data.wanted import FURTHER_CHANCE, FURTHER_VIEWS, Sizes, check_wanted
from smoothpl.errors import ConfigError

SIZES = Sizes(num_labeled=4, num_unlabeled=6, dims=(3, 8, 8))


def test_each_has_a_stream_of_its_own() -> None:
    streams = [each.stream for each in FURTHER_VIEWS.values()] + [each.stream for each in FURTHER_CHANCE.values()]
    assert len({*streams}) == len(streams)
    assert not {*streams} & {Stream.LABELED, Stream.UNLABELED, Stream.FOLD}


@pytest.mark.parametrize("name", FURTHER_CHANCE)
def test_what_chance_decides_is_a_function_of_the_step(name: str) -> None:
    draw, stream = FURTHER_CHANCE[name].draw, FURTHER_CHANCE[name].stream
    one, again, other = (draw(generator(1, stream, step), SIZES) for step in (5, 5, 6))
    assert one.equal(again)
    assert not one.equal(other)
    if FURTHER_CHANCE[name].by_image:
        assert len(one) == SIZES.num_unlabeled


def test_turns_are_quarters_and_noise_is_of_the_size_of_the_inputs() -> None:
    turn = FURTHER_CHANCE["turn"].draw(np.random.default_rng(0), SIZES._replace(num_unlabeled=400))
    assert {*turn.tolist()} == {0, 1, 2, 3}
    assert FURTHER_CHANCE["noise"].draw(np.random.default_rng(0), SIZES).shape == (6, 3, 8, 8)
    weight, place = FURTHER_CHANCE["mix"].draw(np.random.default_rng(0), SIZES)
    drawn = torch.from_numpy(np.random.default_rng(0).random((2, len(weight))))
    assert weight.equal(drawn[0].float())
    assert place.argsort().equal(drawn[1].argsort())


def test_what_nobody_knows_is_refused() -> None:
    check_wanted(["weak2", "mix"])
    with pytest.raises(ConfigError, match=r"views_wanted=weak3 is not known; a method may want weak2, "):
        check_wanted(["weak3"])
