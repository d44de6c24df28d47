import pytest
import torch

from smoothpl.data.batch import Batch
from smoothpl.errors import ConfigError
from smoothpl.nets.output import Output
from smoothpl.pseudo.labeled_bank import LabeledBank


def observe(bank: LabeledBank, image: list[int], embeddings: torch.Tensor) -> None:
    number = torch.tensor(image)
    nothing = torch.zeros(len(image), 1)
    batch = Batch(nothing, number % 10, nothing, None, number, labeled_image=number)
    bank.observe(torch.rand(1, 10), {"labeled": Output(nothing, None, {"projection": embeddings})}, batch)


def test_an_image_that_comes_twice_counts_by_its_mean_in_any_order() -> None:
    first, second = torch.eye(4)[:2]
    banks = [LabeledBank(10, 4) for _ in range(2)]
    for bank, rows in zip(banks, ([first, second], [second, first]), strict=True):
        bank.prepare_images(100, 3)
        observe(bank, [1, 1], torch.stack(rows))
    assert banks[0].embeddings.equal(banks[1].embeddings)
    torch.testing.assert_close(banks[0].embeddings[1], (first + second) / 2**0.5)


def test_it_is_ready_when_every_image_was_seen_and_keeps_its_memory() -> None:
    bank = LabeledBank(10, 4)
    bank.prepare_images(100, 3)
    observe(bank, [0, 2], torch.eye(4)[:2])
    assert not bank.is_ready
    observe(bank, [1], torch.eye(4)[:1])
    bank.prepare_images(100, 3)
    assert bank.is_ready
    assert bank.label.tolist() == [0, 1, 2]
    bank.prepare_images(100, 4)
    assert not bank.is_ready


def test_where_nothing_is_known_of_embeddings_probabilities_stay() -> None:
    probabilities = torch.rand(3, 10)
    assert LabeledBank(10, 4).refine(probabilities, None, None) is probabilities


def test_shares_beyond_1_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"refine.labeled_bank.momentum=1.5 must lie in \[0, 1\]"):
        LabeledBank(10, 4, momentum=1.5)
