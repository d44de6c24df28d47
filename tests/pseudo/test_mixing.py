from unittest.mock import Mock

import pytest
import torch
from scipy.stats import beta, kstest

from smoothpl.errors import ConfigError
from smoothpl.pseudo.mixing import Mix

CHANCE = torch.Generator().manual_seed(0)


def batch(number: int) -> Mock:
    return Mock(chance={"mix": torch.rand(2, number, generator=CHANCE, dtype=torch.float64)})


@pytest.mark.parametrize("alpha", [0.5, 0.75, 2.0])
def test_weights_are_the_larger_parts_of_a_beta_distribution(alpha: float) -> None:
    weight, partner = Mix(["labeled"], alpha=alpha).weights(batch(4000), 4000)
    assert kstest(weight, lambda m: beta.cdf(m, alpha, alpha) - beta.cdf(1 - m, alpha, alpha)).pvalue > 0.01
    assert sorted(partner.tolist()) == list(range(4000))


def test_a_step_may_have_one_weight_for_all() -> None:
    weight, _ = Mix(["labeled"], per="batch").weights(batch(9), 9)
    assert len({*weight.tolist()}) == 1


def test_whatever_belongs_to_images_is_mixed_alike() -> None:
    mix, given = Mix(["labeled", "weak"]), batch(5)
    images = {"labeled": torch.randn(2, 3, 4, 4), "weak": torch.randn(3, 3, 4, 4)}
    targets = {name: each.mean(dim=(2, 3)) for name, each in images.items()}
    mixed, taught = mix.together(given, images), mix.together(given, targets)
    for name in images:
        torch.testing.assert_close(mixed[name].mean(dim=(2, 3)), taught[name])
    assert {*mix.images(given, images)} == {"mixed_labeled", "mixed_weak"}


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"of": []}, r"mix\.of=\[\] must name one to three views"),
        ({"of": ["labeled"], "alpha": 0}, r"mix\.alpha=0 must be positive"),
        ({"of": ["labeled"], "per": "pixel"}, r"mix\.per=pixel must be image or batch"),
    ],
)
def test_a_mixture_that_cannot_be_is_refused(settings: dict[str, object], rule: str) -> None:
    with pytest.raises(ConfigError, match=rule):
        Mix(**settings)  # type: ignore[arg-type]
