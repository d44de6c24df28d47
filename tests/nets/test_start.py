import numpy as np
import pytest
import torch

from smoothpl.errors import ConfigError
from smoothpl.nets.heads import LinearHead
from smoothpl.nets.start import HeadStart, statistics, steadied

FEATURES = torch.randn(600, 4, generator=torch.Generator().manual_seed(0)) * torch.tensor([1, 5, 0.1, 2]) + 3
LABELED = FEATURES[:30].unsqueeze(1)
LABELS = (LABELED[:, 0, 1] > 3).long() + (LABELED[:, 0, 1] > 6)


def begun(**settings: float | str) -> LinearHead:
    head = LinearHead(4, 3)
    HeadStart(**({"init": "fresh", "temperature": 1.0} | settings)).begin(  # type: ignore[arg-type]
        head, torch.split(FEATURES, 128), LABELED, LABELS
    )
    return head


def test_features_are_standardised_by_the_unlabeled_images() -> None:
    head = begun()
    scaled = head.standardised(FEATURES)
    torch.testing.assert_close(scaled.mean(dim=0), torch.zeros(4), atol=1e-4, rtol=0)
    expected = FEATURES.std(dim=0, correction=0)
    usual = expected.median()
    expected = expected / ((600 * expected**2 + 10 * usual**2) / 610).sqrt()
    torch.testing.assert_close(scaled.std(dim=0, correction=0), expected, atol=1e-4, rtol=0)


def test_a_feature_that_hardly_varied_over_few_images_does_not_drown_the_others() -> None:
    few = torch.randn(40, 5, generator=torch.Generator().manual_seed(1))
    few[:, 0] *= 1e-5  # nearly always silent
    few[:, 1] = 2  # never varies
    mean, deviation, number = statistics([few])
    head = LinearHead(5, 3)
    head.standardise_by(mean, steadied(deviation, number))
    speaks = head.standardised(torch.ones(1, 5))
    assert speaks[0, 0].abs() < 5
    assert speaks[0, 1] == 0
    of_many = steadied(deviation, 50_000)
    torch.testing.assert_close(of_many[2:], deviation[2:], rtol=1e-3, atol=0)


def test_parts_are_joined_to_the_statistics_of_the_whole() -> None:
    mean, deviation, number = statistics(torch.split(FEATURES, [1, 99, 500]))
    assert number == len(FEATURES)
    np.testing.assert_allclose(mean, FEATURES.double().mean(dim=0), rtol=1e-6)
    np.testing.assert_allclose(deviation, FEATURES.double().std(dim=0, correction=0), rtol=1e-6)


def test_a_fresh_head_has_no_opinion_and_a_probe_has_one() -> None:
    assert begun()(FEATURES).eq(0).all()
    assert begun(init="probe")(FEATURES).abs().max() > 0.01


def test_temperatures_are_numbers_or_fitted_on_labels() -> None:
    head = begun(temperature=0.25, loss_temperature=0.5)
    assert (float(head.temperature), float(head.loss_temperature)) == (0.25, 0.5)
    assert float(begun(temperature="labels").temperature) not in (0.25, 1.0)


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        (("luck", 1.0), r"head\.init=luck must be fresh or probe"),
        (("fresh", "warm"), r"head\.temperature=warm must be a positive number, or labels"),
        (("fresh", 0), r"head\.temperature=0 must be a positive number"),
        (("fresh", 1.0, float("inf")), r"head\.loss_temperature=inf must be a positive number"),
    ],
)
def test_bad_settings_are_refused(settings: tuple[str, float], rule: str) -> None:
    with pytest.raises(ConfigError, match=rule):
        HeadStart(*settings).check()


def test_features_that_are_not_numbers_are_refused() -> None:
    with pytest.raises(ConfigError, match="some features are not numbers"):
        statistics([torch.tensor([[1.0, torch.nan]])])
