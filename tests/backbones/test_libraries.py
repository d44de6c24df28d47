import sys
from pathlib import Path
from typing import Any

import pytest
import timm
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torchvision import models

from smoothpl.backbones import Encoder, engine_for, of_timm, of_torchvision
from smoothpl.backbones.libraries import headless
from smoothpl.errors import ConfigError

SMALL = {"timm": "test_resnet", "torchvision": "shufflenet_v2_x0_5"}
MAKE = {"timm": of_timm, "torchvision": of_torchvision}
IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


@pytest.fixture(scope="module")
def published() -> dict[str, dict[str, Tensor]]:
    """By library: whole networks, with their classifiers."""
    torch.manual_seed(1)
    networks = {"timm": timm.create_model(SMALL["timm"]), "torchvision": models.get_model(SMALL["torchvision"])}
    return {library: network.state_dict() for library, network in networks.items()}


def same(encoder: Encoder, weights: dict[str, Tensor]) -> bool:
    return all(torch.equal(tensor, weights[name]) for name, tensor in encoder.network.state_dict().items())


def test_the_preprocessing_comes_with_the_model() -> None:
    found = [
        of_timm("test_vit", "random"),
        of_timm("resnet10t", "random"),
        of_torchvision("resnet18", "random"),
        of_torchvision("regnet_y_400mf", "random"),
    ]
    assert [(each.size, round(each.crop, 3)) for each in found] == [
        (160, 0.95),
        (176, 0.875),
        (224, 0.875),
        (224, 0.966),
    ]
    assert [(each.mean, each.std) for each in found] == [((0.5,) * 3, (0.5,) * 3), *3 * [IMAGENET]]


@pytest.mark.parametrize("library", SMALL)
def test_the_preprocessing_may_be_set(library: str) -> None:
    encoder = MAKE[library](SMALL[library], "random", size=48, crop=0.5, mean=(0.1, 0.2, 0.3), std=(1.0, 2.0, 3.0))
    assert (encoder.size, encoder.crop, encoder.mean, encoder.std) == (48, 0.5, (0.1, 0.2, 0.3), (1.0, 2.0, 3.0))
    with pytest.raises(ConfigError, match=r"^backbone\.crop=2 must be in"):
        MAKE[library](SMALL[library], "random", crop=2)


@pytest.mark.parametrize(
    ("name", "dim"),
    [("resnet18", 512), ("squeezenet1_1", 512), ("mobilenet_v3_small", 1024), ("shufflenet_v2_x0_5", 1024)],
)
def test_the_features_are_what_the_last_layer_sees(name: str, dim: int) -> None:
    network = models.get_model(name).eval()
    parts = [part for part in network.modules() if isinstance(part, nn.Linear | nn.Conv2d)]
    seen: list[Tensor] = []
    parts[-1].register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    pixels = torch.randn(2, 3, 64, 64)
    with torch.no_grad():
        network(pixels)
        features = headless(network)(pixels)
    wanted = seen[0] if seen[0].ndim == 2 else seen[0].relu().mean(dim=(2, 3))
    assert features.shape == (2, dim)
    assert torch.allclose(features, wanted, atol=1e-5)


@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
@pytest.mark.parametrize("library", SMALL)
def test_a_file_fills_every_tensor(
    library: str, suffix: str, published: dict[str, dict[str, Tensor]], tmp_path: Path
) -> None:
    place = tmp_path / f"weights{suffix}"
    wrapped = {f"module.{name}": tensor for name, tensor in published[library].items()}
    save_file(published[library], place) if suffix == ".safetensors" else torch.save({"state_dict": wrapped}, place)
    encoder = MAKE[library](SMALL[library], str(place), size=32)
    assert same(encoder, published[library])
    assert encoder.digest != MAKE[library](SMALL[library], "random", size=32).digest


@pytest.mark.parametrize("library", SMALL)
def test_a_file_for_another_network_is_refused(
    library: str, published: dict[str, dict[str, Tensor]], tmp_path: Path
) -> None:
    other, lacking = tmp_path / "other.pth", tmp_path / "lacking.pth"
    torch.save(published["timm" if library == "torchvision" else "torchvision"], other)
    torch.save(dict(list(published[library].items())[:-20]), lacking)
    for place in (other, lacking):
        with pytest.raises(
            ConfigError, match=rf"^backbone\.weights=\S+ is not for {SMALL[library]}: \d+ of its \d+ ten"
        ):
            MAKE[library](SMALL[library], str(place), size=32)


def test_weights_for_another_size_are_resized(tmp_path: Path) -> None:
    larger = of_timm("test_vit", "random", size=64)
    torch.save(larger.network.state_dict(), tmp_path / "larger.pth")
    smaller = of_timm("test_vit", str(tmp_path / "larger.pth"), size=32)
    places = [each.network.get_parameter("pos_embed").shape[1] for each in (larger, smaller)]
    assert places == [17, 5]
    name = "blocks.0.attn.qkv.weight"
    assert torch.equal(smaller.network.get_parameter(name), larger.network.get_parameter(name))


def test_published_weights_of_torchvision_are_fetched_only_when_asked_for(
    published: dict[str, dict[str, Tensor]], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def fetch(self: Any, **knobs: Any) -> dict[str, Tensor]:
        asked.append((self.name, knobs["weights_only"]))
        return published["torchvision"]

    monkeypatch.setattr(models.WeightsEnum, "get_state_dict", fetch)
    of_torchvision(SMALL["torchvision"], "random", size=32)
    assert asked == []
    for weights in ("pretrained", "IMAGENET1K_V1", "DEFAULT"):
        assert same(of_torchvision(SMALL["torchvision"], weights, size=32), published["torchvision"])
    assert asked == 3 * [("IMAGENET1K_V1", True)]


def test_published_weights_of_timm_are_fetched_by_timm(monkeypatch: pytest.MonkeyPatch) -> None:
    create, asked = timm.create_model, []

    def fake(name: str, pretrained: bool = False, **knobs: Any) -> nn.Module:
        asked.append(pretrained)
        torch.manual_seed(7 if pretrained else 0)
        return create(name, **knobs)

    monkeypatch.setattr(timm, "create_model", fake)
    encoder = of_timm("test_resnet.r160_in1k", "pretrained", size=32)
    assert asked == [False, True]
    torch.manual_seed(7)
    assert same(encoder, create("test_resnet", num_classes=0).state_dict())


def test_weights_that_cannot_be_fetched_are_named_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError("no route to host\nand more")

    monkeypatch.setattr(models.WeightsEnum, "get_state_dict", fail)
    message = r"^backbone\.weights=pretrained could not be fetched \(.+\); .* backbone\.weights=<file>\.$"
    with pytest.raises(ConfigError, match=message):
        of_torchvision(SMALL["torchvision"], "pretrained", size=32)
    with pytest.raises(ConfigError, match=message):
        of_timm("resnet50_mlp", "pretrained", size=32)


@pytest.mark.parametrize("library", SMALL)
@pytest.mark.parametrize("weights", [None, "best"])
def test_weights_must_be_chosen(library: str, weights: str | None) -> None:
    with pytest.raises(ConfigError, match=rf"^backbone\.weights={weights or 'null'} must be pretrained .*, or random"):
        MAKE[library](SMALL[library], weights)


@pytest.mark.parametrize("library", SMALL)
def test_random_weights_are_the_same_in_every_process_and_move_no_other_draw(library: str) -> None:
    torch.manual_seed(3)
    before = torch.random.get_rng_state()
    first = MAKE[library](SMALL[library], "random", size=32)
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.rand(5)
    assert MAKE[library](SMALL[library], "random", size=32).digest == first.digest


@pytest.mark.parametrize("library", SMALL)
def test_an_unknown_name_is_refused(library: str) -> None:
    with pytest.raises(ConfigError, match=rf"^backbone\.name=resnetx is not a .*model of {library}; .* are .*resn"):
        MAKE[library]("resnetx", "random")
    with pytest.raises(ConfigError, match=rf"^backbone\.name=null .* model of {library}.*resnet18"):
        MAKE[library](None, "random")


def test_one_tensor_that_is_missing_is_counted_as_one(published: dict[str, dict[str, Tensor]], tmp_path: Path) -> None:
    weights = dict(published["timm"])
    del weights["conv1.0.weight" if "conv1.0.weight" in weights else "conv1.weight"]
    torch.save(weights, tmp_path / "most.pth")
    with pytest.raises(
        ConfigError, match=r"is not for test_resnet: 1 of its \d+ tensors is not in it, or of other dims"
    ):
        of_timm(SMALL["timm"], str(tmp_path / "most.pth"), size=32)


@pytest.mark.parametrize(
    ("name", "near"),
    [("resnet9999", "resnet"), ("rsnet18", "resnet18"), ("ViT_smal", "vit_small"), ("qqq", "none")],
)
def test_similar_names_begin_as_the_name_does(name: str, near: str) -> None:
    with pytest.raises(ConfigError, match=rf"^backbone\.name={name} is not .*; similar names are {near}"):
        of_timm(name, "random")


@pytest.mark.parametrize(
    ("library", "name", "size"),
    [("timm", "test_vit", 8), ("timm", "test_vit", 40), ("timm", "test_maxvit", 40), ("torchvision", "alexnet", 16)],
)
def test_sizes_that_a_network_does_not_take_are_refused(library: str, name: str, size: int) -> None:
    with pytest.raises(ConfigError, match=rf"^backbone\.size={size} is a size that {name} does not take \(.+\); use"):
        MAKE[library](name, "random", size=size)


@pytest.mark.parametrize(("library", "name"), [*SMALL.items(), ("timm", "test_vit"), ("timm", "tf_efficientnet_lite0")])
def test_onnxruntime_computes_them_too(library: str, name: str) -> None:
    encoder = MAKE[library](name, "random", size=64)
    engine, prepared = engine_for(encoder), torch.randn(5, 3, 64, 64)
    wanted = encoder.network(prepared)
    assert engine.name == "onnxruntime"
    assert (engine(prepared) - wanted).abs().max() <= 2e-5 * wanted.abs().max()


def test_timm_that_is_not_installed_is_named_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(ConfigError, match=r"^backbone=timm needs timm: pip install 'smoothpl\[backbone\]'\.$"):
        of_timm("test_resnet", "random")
