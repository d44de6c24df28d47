import torch
from torch.nn.functional import batch_norm

from smoothpl.nets.worst_head import WorstHead, with_reversed_gradient

FEATURES = torch.randn(6, 4, generator=torch.Generator().manual_seed(0))


def test_layers_are_normalised_by_the_whole_batch() -> None:
    head = WorstHead(4, 3)
    seen = FEATURES
    for layer in (head.first, head.second):
        seen = batch_norm(layer(seen), None, None, training=True).relu()
    torch.testing.assert_close(head(FEATURES), head.classify(seen), atol=1e-4, rtol=1e-4)


def test_features_pass_as_they_are_and_their_gradient_the_other_way_round() -> None:
    features = FEATURES.clone().requires_grad_()
    passed = with_reversed_gradient(features, torch.tensor(0.25))
    assert passed.equal(features)
    (gradient,) = torch.autograd.grad((passed * FEATURES).sum(), features)
    torch.testing.assert_close(gradient, -0.25 * FEATURES)
