import pytest
import torch
from torch.nn.functional import cross_entropy

from smoothpl.errors import ConfigError
from smoothpl.nets.build import build_network
from smoothpl.nets.heads import CosineHead, Head, LinearHead, MLPHead
from tests.support.composing import HEADS, composed

DIM, CLASSES = 7, 3
VECTORS = torch.randn(50, DIM, generator=torch.Generator().manual_seed(0)) * 5 + 2


def started(head: Head) -> Head:
    head.standardise_by(VECTORS.mean(dim=0), VECTORS.std(dim=0, correction=0))
    for parameter in head.parameters():
        torch.nn.init.normal_(parameter, generator=torch.Generator().manual_seed(1))
    return head


def by_hand() -> torch.Tensor:
    return (VECTORS - VECTORS.mean(dim=0)) / VECTORS.std(dim=0, correction=0)


@pytest.mark.parametrize("name", HEADS)
def test_a_head_of_every_kind_turns_vectors_into_logits(name: str) -> None:
    head = build_network(composed(f"net={name}").net, dims=[DIM])
    assert head(VECTORS).shape == (50, 10)


def test_a_linear_head_folds_standardising_into_its_weights_with_the_same_values_and_gradients() -> None:
    head = started(LinearHead(DIM, CLASSES))
    assert isinstance(head, LinearHead)
    head.loss_temperature.fill_(0.5)
    label = torch.arange(50) % CLASSES
    cross_entropy(head(VECTORS), label).backward()  # type: ignore[no-untyped-call]
    weight, bias = (each.detach().clone().requires_grad_() for each in (head.classify.weight, head.classify.bias))
    expected = (by_hand() @ weight.T + bias) / 0.5
    cross_entropy(expected, label).backward()  # type: ignore[no-untyped-call]
    torch.testing.assert_close(head(VECTORS), expected, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(head.classify.weight.grad, weight.grad, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(head.classify.bias.grad, bias.grad, rtol=1e-4, atol=1e-5)


def test_an_mlp_begins_as_its_linear_part() -> None:
    head = MLPHead(DIM, CLASSES, width=5)
    head.standardise_by(VECTORS.mean(dim=0), VECTORS.std(dim=0, correction=0))
    assert head(VECTORS).eq(0).all()
    weight, bias = torch.randn(CLASSES, DIM), torch.randn(CLASSES)
    with torch.no_grad():
        head.start_at(weight, bias)
    torch.testing.assert_close(head(VECTORS), by_hand() @ weight.T + bias, rtol=1e-4, atol=1e-4)


def test_a_cosine_lies_between_minus_and_plus_its_scale_and_ignores_lengths() -> None:
    head = started(CosineHead(DIM, CLASSES, scale=4.0))
    logits = head(VECTORS)
    directions = torch.nn.functional.normalize(head.directions)  # type: ignore[arg-type]
    torch.testing.assert_close(
        logits, 4 * torch.nn.functional.normalize(by_hand()) @ directions.T, rtol=1e-4, atol=1e-4
    )
    assert logits.abs().max() <= 4
    far = head.mean + 10 * (VECTORS - head.mean)
    torch.testing.assert_close(head(far), logits, rtol=1e-4, atol=1e-4)


def test_a_feature_that_never_changes_is_left_out() -> None:
    head = LinearHead(2, CLASSES)
    head.standardise_by(torch.tensor([1.0, 5.0]), torch.tensor([2.0, 0.0]))
    assert head.scale.tolist() == [0.5, 0.0]
    assert head.standardised(torch.tensor([[3.0, 99.0]])).tolist() == [[1.0, 0.0]]


def test_confidences_have_a_temperature_of_their_own() -> None:
    head = LinearHead(DIM, CLASSES)
    head.loss_temperature.fill_(2.0)
    head.temperature.fill_(0.25)
    raw = torch.tensor([[1.0, 2.0, 3.0]])
    assert head.confidences_of(raw / 2.0).equal(raw / 0.25)


def test_confidences_of_coarse_logits_are_float32() -> None:
    """bfloat16 cannot tell 0.949 from 0.951."""
    head = LinearHead(3, 5)
    head.temperature.fill_(0.3)
    raw = torch.randn(4, 5).bfloat16()
    assert head.confidences_of(raw).equal(raw.float() * (1 / head.temperature))


@pytest.mark.parametrize(
    ("words", "rule"), [("net=mlp net.width=0", "width=0"), ("net=cosine net.scale=-1", "scale=-1")]
)
def test_bad_settings_are_refused(words: str, rule: str) -> None:
    with pytest.raises(Exception, match=f"net.{rule} must be a positive"):
        build_network(composed(*words.split()).net, dims=[DIM])


def test_a_head_needs_a_backbone_and_a_backbone_a_head() -> None:
    with pytest.raises(ConfigError, match=r"LinearHead: it needs the features of a backbone; add backbone="):
        build_network(composed("net=linear").net)
    with pytest.raises(ConfigError, match=r"WideResNet: it sees images, and a backbone gives features; use net=linear"):
        build_network(composed().net, dims=[DIM])


def test_a_fresh_cosine_head_looks_towards_the_labeled_images_of_each_class() -> None:
    head = CosineHead(DIM, CLASSES)
    features, labels = torch.randn(6, 2, DIM), torch.tensor([0, 0, 0, 2, 2, 2])
    before = head.directions[1].clone()
    with torch.no_grad():
        head.start_fresh(features, labels)
    expected = torch.nn.functional.normalize(features[3:].flatten(0, 1).mean(dim=0), dim=0)
    torch.testing.assert_close(head.directions[2], expected)
    assert head.directions[1].equal(before)  # of a class without labels
