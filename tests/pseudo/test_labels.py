import torch

from smoothpl.pseudo import pseudo_labels


def test_a_pseudo_label_is_the_dominant_class_and_its_score() -> None:
    probability = torch.tensor([[0.2, 0.7, 0.1], [0.98, 0.01, 0.01]])
    pseudo = pseudo_labels(probability.log())
    assert pseudo.label.tolist() == [1, 0]
    torch.testing.assert_close(pseudo.confidence, torch.tensor([0.7, 0.98]))


def test_no_gradient_comes_back_from_a_pseudo_label() -> None:
    pseudo = pseudo_labels(torch.randn(4, 3, requires_grad=True))
    assert not pseudo.confidence.requires_grad


def test_confidence_is_float32_because_bfloat16_cannot_tell_0_949_from_0_951() -> None:
    assert torch.tensor(0.949).bfloat16() == torch.tensor(0.951).bfloat16()
    logits = torch.tensor([[0.0, 3.0]], dtype=torch.bfloat16)
    assert pseudo_labels(logits).confidence.dtype == torch.float32
    torch.testing.assert_close(pseudo_labels(logits).confidence, torch.sigmoid(torch.tensor([3.0])))
