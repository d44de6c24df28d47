import torch

from smoothpl.pseudo.similarity import similarity


def test_products_are_exact_also_in_mixed_precision() -> None:
    one, other = torch.rand(3, 4), torch.rand(5, 4)
    expected = (one[:, None] * other).sum(dim=2) / 0.5
    with torch.autocast("cpu", torch.bfloat16):
        found = similarity(one, other, temperature=0.5)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, expected)
