import torch

from smoothpl.nets.output import Output


def test_a_network_without_heads_gives_logits_alone() -> None:
    output = Output(torch.zeros(2, 3))
    assert output.features is None
    assert not output.heads
