import pytest
import torch

from smoothpl.nets.noise import mixed, normal, uniform

SEED = torch.tensor([12345])


def plainly(number: int) -> int:
    """The same hash in whole numbers of any size."""
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B), (16, 1)):
        number = (number ^ (number >> shift)) * factor % 2**32
    return number


def test_a_hash_is_that_of_whole_numbers_and_no_product_overflows() -> None:
    numbers = [0, 1, 2, 2**31 - 1, 2**31, 2**32 - 1]
    assert mixed(torch.tensor(numbers)).tolist() == [plainly(each) for each in numbers]


def test_numbers_are_a_function_of_seed_and_draw() -> None:
    one = normal(SEED, (10, 128))
    assert one.equal(normal(SEED, (10, 128)))
    others = [normal(SEED + 1, (10, 128)), normal(SEED, (10, 128), draw=1)]
    for other in others:
        assert abs(float(torch.corrcoef(torch.stack([one.flatten(), other.flatten()]))[0, 1])) < 0.1


def test_every_row_has_numbers_of_its_own_seed_alone() -> None:
    seeds = torch.tensor([3, 4, 5, 6])
    assert uniform(seeds, 50)[2:].equal(uniform(seeds[2:], 50))


def test_uniform_numbers_fill_the_unit_interval() -> None:
    drawn = uniform(torch.arange(100), 1000)
    assert drawn.min() > 0
    assert drawn.max() < 1
    counts = torch.histc(drawn, 20, 0, 1) / drawn.numel()
    torch.testing.assert_close(counts, torch.full((20,), 0.05), atol=0.003, rtol=0)


def test_normal_numbers_have_the_moments_of_normal_ones() -> None:
    drawn = normal(SEED, (100, 1000)).double()
    for power, expected in ((1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)):
        assert float((drawn**power).mean()) == pytest.approx(expected, abs=0.06)
    assert float((drawn[:-1] * drawn[1:]).mean()) == pytest.approx(0, abs=0.01)
    assert drawn.abs().max() < 6
