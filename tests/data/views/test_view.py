from dataclasses import dataclass

import torch
from torch import Tensor

from smoothpl.data import Chain, View


@dataclass(frozen=True)
class Add(View):
    """Adds as much as was drawn."""

    num_draws = 1

    def __call__(self, images: Tensor, plan: Tensor) -> Tensor:
        return images + plan.view(-1, 1, 1, 1)


@dataclass(frozen=True)
class Double(View):
    num_draws = 0

    def __call__(self, images: Tensor, plan: Tensor) -> Tensor:
        return 2 * images


def test_a_chain_applies_its_steps_in_order_each_with_its_own_draws() -> None:
    chain = Chain({"first": Add(), "second": Double(), "third": Add()})
    assert chain.num_draws == 2
    images = torch.zeros(1, 1, 1, 1)
    plan = chain.plan(torch.tensor([[10.0, 1.0]]), images.shape)
    assert chain(images, plan).item() == 21


def test_an_empty_chain_shows_the_image_itself() -> None:
    images = torch.rand(2, 3, 4, 4)
    assert Chain({})(images, Chain({}).plan(torch.empty(2, 0), images.shape)) is images
