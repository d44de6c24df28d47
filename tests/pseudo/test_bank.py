import pytest
import torch

from smoothpl.errors import ConfigError
from smoothpl.pseudo.bank import Bank, BankSmoothing


def test_it_holds_the_last_rows() -> None:
    bank, taken = Bank(rows=6, width=2, num_classes=3), torch.arange(16.0).view(8, 2)
    for number in range(4):
        assert bank.is_full == (number == 3)
        bank.take(taken[2 * number :][:2], torch.full((2, 3), float(number)))
    assert {*map(tuple, bank.embeddings.tolist())} == {*map(tuple, taken[2:].tolist())}
    assert bank.beliefs[:, 0].tolist() == [3, 3, 1, 1, 2, 2]


def test_where_nothing_is_known_of_embeddings_probabilities_stay() -> None:
    probabilities = torch.rand(3, 10)
    assert BankSmoothing(10, 4, 2, 7).refine(probabilities, None, None) is probabilities


@pytest.mark.parametrize(("words", "complaint"), [({"keep": 1.1}, "keep=1.1 must lie"), ({"batches": 0}, "batches=0")])
def test_what_it_cannot_do_is_said(words: dict[str, float], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        BankSmoothing(10, 4, 2, 7, **words)  # type: ignore[arg-type]
