import pytest
import torch

from smoothpl.errors import ConfigError
from smoothpl.nets.head_with_dropout import WithDropout

FEATURES = torch.randn(6, 8, generator=torch.Generator().manual_seed(0))
SEEDS = torch.arange(6)


def test_the_hidden_layer_loses_a_part_that_the_others_make_up_for() -> None:
    head = WithDropout(8, 3, dropout=0.0)
    assert head(FEATURES, SEEDS).equal(head.classify(head.widen(FEATURES).relu()))
    head.dropout = 0.5
    many = torch.stack([head(FEATURES, SEEDS + 6 * draw) for draw in range(3000)])
    torch.testing.assert_close(many.mean(0), head.classify(head.widen(FEATURES).relu()), atol=0.1, rtol=0)
    assert many.std(dim=0).mean() > 0.1


def test_an_image_loses_what_its_seed_says_wherever_it_is_in_a_batch() -> None:
    head = WithDropout(8, 3)
    torch.testing.assert_close(head(FEATURES, SEEDS)[4:], head(FEATURES[4:], SEEDS[4:]))
    assert not torch.allclose(head(FEATURES, SEEDS), head(FEATURES, SEEDS + 1))


def test_what_would_lose_everything_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"dropout=1 must lie in \[0, 1\)"):
        WithDropout(8, 3, dropout=1)
