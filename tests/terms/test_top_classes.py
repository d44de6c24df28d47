from typing import Any

import pytest
import torch

from smoothpl.errors import ConfigError
from smoothpl.terms import Meaning, Negative
from smoothpl.terms.top_classes import at_rank, least_number, ranks_of, soft_ranks, top_classes
from tests.support.method_checks import step_of

CHANCE = torch.Generator().manual_seed(0)
TERMS: tuple[Any, ...] = (Negative, Meaning)


def test_the_least_number_is_found_without_asking_class_by_class() -> None:
    for _ in range(50):
        believed = torch.rand(3, 6, generator=CHANCE)
        label = torch.randint(6, (3,), generator=CHANCE)
        ranks = [
            row.argsort(descending=True).tolist().index(int(y)) + 1 for row, y in zip(believed, label, strict=True)
        ]
        assert ranks_of(label, believed).tolist() == ranks
        assert least_number(ranks_of(label, believed), 6) == max(2, *ranks)


def test_of_ten_thousand_images_one_may_be_left_out() -> None:
    ranks = torch.ones(20_000, dtype=torch.long)
    ranks[0] = 5
    assert least_number(ranks, 10) == 2
    ranks[:2] = 5
    assert least_number(ranks, 10) == 5
    ranks[:] = 10
    assert least_number(ranks, 10) == 10


def test_between_two_ranks_a_probability_is_in_between() -> None:
    weak = torch.tensor([[0.2, 0.5, 0.3]])
    found = [at_rank(weak, torch.tensor(rank)).item() for rank in (1.0, 2.0, 2.5, 3.0)]
    assert found == pytest.approx([0.5, 0.3, 0.25, 0.2])


def test_a_soft_rank_is_that_of_a_sure_label_and_the_shares_of_those_behind_it() -> None:
    believed = torch.tensor([[0.5, 0.3, 0.2]])
    assert soft_ranks(torch.tensor([[0.0, 1.0, 0.0]]), believed).item() == pytest.approx(2 + 0.2 / 0.3)
    assert soft_ranks(torch.full((1, 3), 1 / 3), torch.full((1, 3), 1 / 3)).item() == pytest.approx(3)


def jump(term: Any, moving: str) -> float:
    """Of the gradient of a step of four images, as a view of one of them goes from one class to another: k changes."""
    weak = 2 * torch.randn(4, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    logits, slopes = {"weak": weak, "strong": weak.clone()}, list[torch.Tensor]()
    ends = torch.tensor([[4.0, 3.5, 0, 1, 2, 3], [0, 3.5, 1, 4, 3, 2]], dtype=torch.float64)
    logits["weak"][0] = logits["strong"][0] = ends[0]
    for place in torch.linspace(0, 1, 401, dtype=torch.float64):
        logits[moving][0] = ends[0].lerp(ends[1], place)
        strong = logits["strong"].clone().requires_grad_()
        step = step_of(weak=logits["weak"], strong=strong)
        sure = (step.pseudo.confidence - 0.5).clamp(min=0)
        slopes += torch.autograd.grad(term(step._replace(weight=sure)), strong)
    return torch.stack(slopes).diff(dim=0).abs().max().item()


@pytest.mark.parametrize("moving", ["weak", "strong"])
@pytest.mark.parametrize("kind", TERMS)
def test_their_number_jumps_from_step_to_step_unless_ranks_are_soft(kind: Any, moving: str) -> None:
    assert jump(kind(0.8), moving) > 0.02
    assert jump(kind(0.8, ranks="soft"), moving) < 0.005


def test_nothing_is_excluded_where_all_classes_are_in_question() -> None:
    step = step_of(weak=torch.tensor([[20.0, 2.0, 0.0]]), strong=torch.tensor([[0.0, 2.0, 4.0]]))
    for is_soft in (False, True):
        top = top_classes(step, "strong", 0.9, is_soft)
        assert float(top.number) == pytest.approx(3)
        assert not top.excluded.any()


@pytest.mark.parametrize("kind", TERMS)
def test_settings_that_cannot_be_are_refused(kind: Any) -> None:
    with pytest.raises(ConfigError, match=r"ranks=real must be hard \(as published\) or soft"):
        kind(0.9, ranks="real")
    for threshold in (None, 0.0, 1.0):
        with pytest.raises(ConfigError, match=r"threshold=.* must lie between 0 and 1"):
            kind(threshold)
