import pytest
import torch
from torch import nn
from torchvision.models import resnet18

from smoothpl.errors import ConfigError
from smoothpl.nets import LinearHead, WideResNet
from smoothpl.nets.heads import MLPHead
from smoothpl.nets.method_heads import Classifier, Projection
from smoothpl.nets.with_heads import WithHeads, base_of, begin_alike, last_layer, logits_and_features, without_heads

IMAGES = torch.randn(4, 3, 32, 32, generator=torch.Generator().manual_seed(0))


def wide() -> WideResNet:
    torch.manual_seed(0)
    return WideResNet(num_classes=5, depth=10, width=1).eval()


@pytest.mark.parametrize("network", [wide(), resnet18(num_classes=5).eval()], ids=["wideresnet", "torchvision"])
def test_features_are_what_the_last_layer_gets(network: nn.Module) -> None:
    logits, features = logits_and_features(network, IMAGES)
    assert logits.equal(network(IMAGES))
    torch.testing.assert_close(last_layer(network)(features), logits)
    assert not last_layer(network)._forward_pre_hooks


def test_a_head_on_features_gives_them_standardised() -> None:
    head, vectors = LinearHead(6, 3), torch.randn(4, 6).half()
    head.standardise_by(torch.ones(6), torch.full((6,), 2.0))
    logits, features = logits_and_features(head, vectors)
    assert logits.equal(head(vectors))
    torch.testing.assert_close(features, (vectors.float() - 1) / 2)


def test_a_network_with_heads_predicts_as_it_did_without_them() -> None:
    network = WithHeads(wide(), {"projection": Projection}, num_classes=5).eval()
    assert base_of(network) is network.base
    assert network(IMAGES).equal(wide()(IMAGES))
    seen = network.look(IMAGES)
    assert seen.logits.equal(network(IMAGES))
    assert seen.heads["projection"].shape == (4, 64)


def test_whoever_uses_it_gets_it_without_heads() -> None:
    network = WithHeads(wide(), {"projection": Projection}, num_classes=5)
    plain = wide()
    with torch.no_grad():
        last_layer(plain).weight.zero_()
    plain.load_state_dict(without_heads(network.state_dict()))
    assert plain.eval()(IMAGES).equal(network.eval()(IMAGES))
    assert without_heads(plain.state_dict()).keys() == plain.state_dict().keys()


def test_a_judged_head_takes_the_place_of_the_last_layer() -> None:
    network = WithHeads(wide(), {"second": Classifier}, num_classes=5, judged="second").eval()
    assert not network(IMAGES).equal(network.base(IMAGES))
    plain = wide()
    plain.load_state_dict(without_heads(network.state_dict(), "second"))
    torch.testing.assert_close(plain.eval()(IMAGES), network(IMAGES))
    with pytest.raises(ConfigError, match=r"the judged head third is not among extra_heads=\['second'\]"):
        WithHeads(wide(), {"second": Classifier}, num_classes=5, judged="third")


def test_a_network_without_a_last_layer_is_refused() -> None:
    with pytest.raises(ConfigError, match="Conv2d has no linear layer at its end"):
        WithHeads(nn.Conv2d(3, 5, 1), {"projection": Projection}, num_classes=5)


def test_on_features_a_judged_head_is_scaled_as_that_of_the_network_and_begins_as_it_does() -> None:
    base = LinearHead(6, 5)
    network = WithHeads(base, {"second": Classifier}, num_classes=5, judged="second")
    base.loss_temperature.fill_(0.5)
    with torch.no_grad():
        base.start_at(torch.randn(5, 6), torch.randn(5))
    begin_alike(network)
    vectors = torch.randn(3, 6)
    torch.testing.assert_close(network(vectors), base(vectors))
    assert network.look(vectors).heads["second"].equal(network(vectors))


def test_a_judged_head_takes_the_place_of_a_linear_one_alone() -> None:
    with pytest.raises(ConfigError, match=r"the judged head second is linear, .* of a MLPHead .* use net=linear"):
        WithHeads(MLPHead(6, 5), {"second": Classifier}, num_classes=5, judged="second")
