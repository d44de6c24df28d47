from collections import Counter
from typing import Any

import pytest
import torch

from benchmarks import pillow_views
from smoothpl.data import RandAugment
from smoothpl.data.views.affine import AFFINE_OPERATIONS
from smoothpl.data.views.randaugment import GROUPS, Turns
from tests.support.composing import composed
from tests.support.images import in_memory
from tests.support.pillow import from_pillow, pillow
from tests.support.real import needs_cifar10, real_cifar10


def shipped(views: str, **changes: Any) -> RandAugment:
    settings = composed("data=cifar10", f"views={views}").views.strong.steps.randaugment
    return RandAugment(**{key: value for key, value in settings.items() if key != "_target_"} | changes)


def only(name: str, span: list[float] | None, **changes: Any) -> RandAugment:
    return RandAugment({name: span}, **{"num_operations": 1} | changes)


def plan_of(view: RandAugment, size: int, seed: int = 0) -> Turns:
    draws = torch.rand(size, view.num_draws, generator=torch.Generator().manual_seed(seed))
    return view.plan(draws, torch.Size([size, 3, 32, 32]))


@needs_cifar10
def test_every_image_gets_the_operations_it_drew_in_their_order() -> None:
    """A thousand photographs, three operations each, against Pillow one by one: no pixel differs."""
    images = in_memory(real_cifar10().train).images[:1000]
    view = shipped("torchssl")
    draws = torch.rand(1000, view.num_draws)
    expected = [
        from_pillow(pillow_views.randaugment(pillow(image), numbers), 3)
        for image, numbers in zip(images, draws.double().tolist(), strict=True)
    ]
    assert torch.equal(view(images, view.plan(draws, images.shape)), torch.stack(expected))


@pytest.mark.parametrize("views", ["torchssl", "fixmatch"])
def test_an_image_does_not_depend_on_its_company(views: str) -> None:
    images = torch.randint(256, (50, 3, 32, 32), dtype=torch.uint8)
    view = shipped(views)
    draws = torch.rand(50, view.num_draws)
    together = view(images, view.plan(draws, images.shape))
    for i in range(50):
        alone = view(images[i : i + 1], view.plan(draws[i : i + 1], images[:1].shape))
        assert torch.equal(alone[0], together[i])


def test_a_batch_may_be_empty() -> None:
    view = shipped("torchssl")
    images = torch.empty(0, 3, 32, 32, dtype=torch.uint8)
    assert view(images, view.plan(torch.empty(0, view.num_draws), images.shape)).shape == images.shape


@pytest.mark.parametrize(("views", "applied"), [("torchssl", 1.0), ("fixmatch", 0.5)])
def test_all_fourteen_operations_are_drawn_equally_often(views: str, applied: float) -> None:
    counts = torch.tensor(plan_of(shipped(views), 50_000).counts, dtype=torch.double) / 50_000
    for turn in counts:
        share = dict(zip(GROUPS, turn.tolist(), strict=True))
        assert share.pop("affine") == pytest.approx(applied * 5 / 14, abs=0.01)
        assert share.pop("identity") == pytest.approx(applied / 14 + 1 - applied, abs=0.01)
        assert list(share.values()) == pytest.approx([applied / 14] * 8, abs=0.01)


@pytest.mark.parametrize("views", ["torchssl", "fixmatch"])
def test_the_operations_are_those_of_the_papers(views: str) -> None:
    assert sorted(shipped(views).operations) == sorted(pillow_views.OPERATIONS)


def test_continuous_values_fill_the_range() -> None:
    values = plan_of(only("brightness", [0.05, 0.95]), 100_000).values
    assert values.min() == pytest.approx(0.05, abs=1e-3)
    assert values.max() == pytest.approx(0.95, abs=1e-3)
    assert values.mean() == pytest.approx(0.5, abs=5e-3)


GOOGLE: dict[str, set[float]] = {
    "rotate": {sign * 3.0 * level for level in range(1, 10) for sign in (-1, 1)},
    "shear_x": {round(sign * 0.03 * level, 6) for level in range(1, 10) for sign in (-1, 1)},
    "brightness": {round(0.18 * level + 0.1, 6) for level in range(1, 10)},
    "solarize": {256 - int(level * 25.6) for level in range(1, 10)},
    "posterize": {4 - int(level * 0.4) for level in range(1, 10)},
    "translate_x": {sign * level for level in range(1, 10) for sign in (-1, 1)},
}


@pytest.mark.parametrize("name", GOOGLE)
def test_googles_levels_are_those_of_its_code(name: str) -> None:
    span = shipped("fixmatch").operations[name]
    assert span is not None
    values = plan_of(only(name, list(span), levels=9), 2000).values.double()
    match name:
        case "solarize":
            values = values.ceil()
        case "posterize":
            values = values.floor()
        case "translate_x":
            values = (values * 32).round()
    found = Counter(round(value, 6) for value in values.flatten().tolist())
    assert sorted(found) == pytest.approx(sorted(GOOGLE[name]), abs=1e-6)


def test_probability_0_changes_nothing() -> None:
    images = torch.randint(256, (20, 3, 8, 8), dtype=torch.uint8)
    view = shipped("torchssl", probability=0.0)
    assert torch.equal(view(images, plan_of(view, 20)), images)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"operations": {"blur": None}}, "operations.blur .* is not one of autocontrast, brightness"),
        ({"operations": {"rotate": [30]}}, r"operations.rotate=\[30\] .* must be a pair"),
        ({"operations": {"brightness": None}}, "operations.brightness=None .* must be a pair"),
        ({"operations": {"equalize": [0, 1]}}, r"operations.equalize=\[0, 1\] .* would have no effect"),
        ({"operations": {"posterize": [4, 9]}}, r"operations.posterize=\[4, 9\] .* must lie within \[0, 8\]"),
        ({"operations": {"color": [-1, 1]}}, r"operations.color=\[-1, 1\] .* must lie within \[0, inf\]"),
        ({"operations": {}}, "at least 1 of 1"),
        ({"num_operations": 0}, "num_operations=0 of 14"),
        ({"probability": 1.5}, r"probability=1.5 .* must lie in \[0, 1\]"),
        ({"levels": 0}, "levels=0 .* must be a positive number"),
        ({"fill": 256}, "fill=256 .* from 0 to 255"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        shipped("torchssl", **changes)


def test_the_geometric_operations_share_one_group() -> None:
    assert not set(AFFINE_OPERATIONS) & set(GROUPS)
