import pickle
import sys
from copy import deepcopy
from pathlib import Path

import onnx
import pytest
import torch
from onnx import TensorProto, helper
from torch import Tensor, nn

from smoothpl.backbones import engine_for, of_onnx
from smoothpl.backbones.convert import failing_as_conversion, traced
from smoothpl.errors import ConfigError
from tests.backbones.conftest import MEAN, STD, images, made

FLOAT, BYTES = TensorProto.FLOAT, TensorProto.UINT8


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "pooled.onnx"
    place.write_bytes(traced(made()))
    return place


def written(place: Path, dims: list[int | str], outputs: dict[str, list[str]], kind: int = FLOAT) -> Path:
    """A network whose outputs are the pixels themselves, or reduced over all places: to a map of one, or to nothing."""
    ranks: dict[str, list[int | str]] = {"map": ["b", 3, 1, 1], "vector": ["b", 3]}
    nodes, found = [], []
    for name, (operation, *to) in outputs.items():
        node = helper.make_node(operation, ["pixels"], [name])
        if to:
            node.attribute.extend(
                [helper.make_attribute("axes", [2, 3]), helper.make_attribute("keepdims", int(to == ["map"]))]
            )
        nodes.append(node)
        found.append(helper.make_tensor_value_info(name, kind, ranks[to[0]] if to else dims))
    graph = helper.make_graph(nodes, "means", [helper.make_tensor_value_info("pixels", kind, dims)], found)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), place)
    return place


ANY: list[int | str] = ["b", 3, "h", "w"]


def mean(pixels: Tensor) -> Tensor:
    return pixels.mean(dim=(2, 3))


def test_a_file_is_the_network_that_it_was_made_of(place: Path) -> None:
    encoder = of_onnx(str(place), mean=MEAN, std=STD)
    assert (encoder.name, encoder.size, encoder.dim) == ("pooled", 8, 6)
    assert torch.allclose(encoder(images(20, 12)), made()(images(20, 12)), atol=1e-5)
    engine = engine_for(encoder)
    assert engine.name == "onnxruntime"
    assert torch.allclose(engine(encoder.prepare(images(9, 9))), made()(images(9, 9)), atol=1e-5)


def test_the_mean_and_deviation_of_imagenet_are_taken_where_none_are_set(place: Path) -> None:
    encoder = of_onnx(str(place))
    assert (encoder.mean, encoder.std, encoder.crop) == ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225), 1.0)


@pytest.mark.parametrize("words", [["ReduceMean", "map"], ["ReduceMean", "vector"]])
def test_maps_of_one_pixel_are_vectors_too(words: list[str], tmp_path: Path) -> None:
    encoder = of_onnx(str(written(tmp_path / "means.onnx", ANY, {"vectors": words})), size=12)
    prepared = torch.randn(3, 3, 12, 12)
    assert encoder.dim == 3
    assert torch.allclose(encoder.network(prepared), mean(prepared), atol=1e-6)


def test_of_several_outputs_the_one_that_holds_vectors_is_taken_or_the_one_that_is_named(tmp_path: Path) -> None:
    outputs = {"maps": ["Identity"], "means": ["ReduceMean", "vector"], "largest": ["ReduceMax", "vector"]}
    place = written(tmp_path / "three.onnx", ANY, outputs)
    prepared = torch.randn(2, 3, 6, 6)
    assert torch.allclose(of_onnx(str(place), size=6).network(prepared), mean(prepared), atol=1e-6)
    named = of_onnx(str(place), size=6, output="largest")
    assert torch.allclose(named.network(prepared), prepared.amax(dim=(2, 3)))
    assert named.digest != of_onnx(str(place), size=6).digest
    with pytest.raises(ConfigError, match=r"^output=best is not an output of .*; it has maps, means, largest\.$"):
        of_onnx(str(place), size=6, output="best")
    with pytest.raises(ConfigError, match=r"^three must give one vector of floats per image"):
        of_onnx(str(place), size=6, output="maps")


@pytest.mark.parametrize("batch", [1, 4])
def test_a_file_for_one_number_of_images_takes_any(batch: int, tmp_path: Path) -> None:
    place = written(tmp_path / "fixed.onnx", [batch, 3, 6, 6], {"vectors": ["ReduceMean", "vector"]})
    encoder, prepared = of_onnx(str(place)), torch.randn(7, 3, 6, 6)
    assert encoder.size == 6
    assert torch.allclose(encoder.network(prepared), mean(prepared), atol=1e-6)


def test_the_digest_is_that_of_the_content_and_of_what_lies_beside_it(place: Path) -> None:
    first = of_onnx(str(place)).digest
    assert first == of_onnx(str(place)).digest != of_onnx(str(place), mean=MEAN).digest
    place.write_bytes(traced(made(seed=1)))
    second = of_onnx(str(place)).digest
    place.with_name(f"{place.name}.data").write_bytes(b"weights")
    assert len({first, second, of_onnx(str(place)).digest}) == 3


def test_it_survives_being_copied_and_sent_to_another_process(place: Path) -> None:
    encoder = of_onnx(str(place))
    wanted = encoder(images(8, 8))
    for other in (deepcopy(encoder), pickle.loads(pickle.dumps(encoder))):
        assert torch.equal(other(images(8, 8)), wanted)


def test_what_is_no_encoder_is_refused(place: Path, tmp_path: Path) -> None:
    (tmp_path / "text.onnx").write_text("hello")
    means = {"vectors": ["ReduceMean", "vector"]}
    places = {
        "bytes": written(tmp_path / "bytes.onnx", ANY, {"vectors": ["Identity"]}, BYTES),
        "grey": written(tmp_path / "grey.onnx", ["b", 1, "h", "w"], means),
    }
    for path, knobs, message in (
        (tmp_path / "gone.onnx", {}, r"^backbone\.path=\S+ is not there; name a file of ONNX\.$"),
        (
            tmp_path / "text.onnx",
            {},
            r"^backbone\.path=\S+ is not a network that ONNX Runtime can open \(.+\); export",
        ),
        (places["bytes"], {}, r"must have one input, .* of float32; it has pixels tensor\(uint8\) .*: export it so"),
        (places["grey"], {}, r"must have one input, images \(batch, 3, height, width\)"),
        (place, {"size": 16}, r"^backbone\.size=16 must be 8, the only size that pooled\.onnx is for\.$"),
    ):
        with pytest.raises(ConfigError, match=message):
            of_onnx(str(path), **knobs)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"^backbone\.path=null must be a file of ONNX"):
        of_onnx(None)


def test_a_size_that_the_file_objects_to_is_refused(tmp_path: Path) -> None:
    network = nn.Sequential(nn.Conv2d(3, 6, 5), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    place = tmp_path / "large.onnx"
    dims = {"x": {0: "b", 2: "h", 3: "w"}}
    with failing_as_conversion():  # which is silent
        torch.onnx.export(
            network.eval(), (torch.zeros(1, 3, 8, 8),), place, dynamo=False, input_names=["x"], dynamic_axes=dims
        )
    assert of_onnx(str(place), size=9).dim == 6
    with pytest.raises(ConfigError, match=r"^backbone\.size=4 is a size that large does not take"):
        of_onnx(str(place), size=4)


def test_without_onnxruntime_the_line_that_installs_it_is_the_only_way_out(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    message = r"^backbone\.path=\S+ needs ONNX Runtime, which is not installed: pip install 'smoothpl\[backbone\]'\.$"
    with pytest.raises(ConfigError, match=message):
        of_onnx(str(place))


def test_no_other_engine_can_compute_it(place: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"^backbone\.engine=torch cannot compute pooled, a file of ONNX; use auto\.$"
    ):
        engine_for(of_onnx(str(place)), "torch")
