import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from torch import Tensor, nn

from smoothpl.backbones import Encoder, efficientnet_lite, engine
from smoothpl.backbones.convert import ConversionError, traced
from smoothpl.backbones.engine import Engine, engine_for
from smoothpl.data.decode import decode_safely
from smoothpl.errors import ConfigError
from tests.backbones.conftest import Pooled, made
from tests.support.real import needs_photographs, photographs


@pytest.fixture
def prepared() -> Tensor:
    return torch.randn(35, 3, 8, 8)


def files(cache: Path) -> list[Path]:
    return sorted(cache.glob("backbones/*.onnx"))


@needs_photographs
@pytest.mark.parametrize("variant", ["lite0", "lite2"])
def test_both_engines_give_the_same_vectors_of_photographs(variant: str) -> None:
    encoder = efficientnet_lite(variant, size=96)
    prepared = encoder.prepare(torch.stack([decode_safely(place) for place in photographs()[::400]]))
    fast, slow = (engine_for(encoder, name)(prepared) for name in ("onnxruntime", "torch"))
    assert torch.allclose(slow, encoder.network(prepared), atol=1e-5)
    assert (fast - slow).abs().max() <= 2e-5 * slow.abs().max()


def test_any_number_of_images_is_taken_in_their_order(prepared: Tensor) -> None:
    encoder = made()
    for name in ("onnxruntime", "torch"):
        found = engine_for(encoder, name)
        assert (found.name, found(prepared).dtype) == (name, torch.float32)
        assert torch.allclose(found(prepared), encoder.network(prepared), atol=1e-5)
        assert torch.allclose(found(prepared[7:8]), encoder.network(prepared[7:8]), atol=1e-5)


def test_a_head_can_learn_from_the_vectors(prepared: Tensor) -> None:
    for name in ("onnxruntime", "torch"):
        head = nn.Linear(6, 2)
        head(engine_for(made(), name)(prepared)).sum().backward()
        assert head.weight.grad is not None


def test_the_file_is_made_once_and_for_its_user_alone(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine_for(made(), "onnxruntime")
    (place,) = files(cache)
    assert place.stem.startswith(made().digest)
    assert oct(place.stat().st_mode)[-3:] == "600"
    monkeypatch.setattr(engine, "traced", pytest.fail)
    assert engine_for(made()).name == "onnxruntime"


def test_a_file_is_compared_once_and_again_when_it_has_changed(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    compared = Mock(wraps=engine.compare)
    monkeypatch.setattr(engine, "compare", compared)
    for _ in range(4):
        engine_for(made())
    assert compared.call_count == 2  # when it was made, and when it was first read
    os.utime(files(cache)[0], (1, 1))
    engine_for(made())
    assert compared.call_count == 3


def test_old_files_make_room_for_new_ones(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(engine, "MOST_KEPT", 2)
    for seed in range(4):
        engine_for(made(seed=seed), "onnxruntime")
        os.utime(cache / "backbones" / f"{made(seed=seed).digest}-{engine.WRITING}.onnx", (seed, seed))
    kept = {made(seed=seed).digest for seed in (2, 3)}
    assert {each.stem.partition("-")[0] for each in files(cache)} == kept


@pytest.mark.parametrize("damage", ["cut", "another network's", "no network"])
def test_a_damaged_file_is_made_again(damage: str, cache: Path, prepared: Tensor) -> None:
    engine_for(made(), "onnxruntime")
    (place,) = files(cache)
    whole = place.read_bytes()
    other = traced(made(seed=1))
    place.write_bytes({"cut": whole[:-50], "another network's": other, "no network": b"?"}[damage])
    assert torch.allclose(engine_for(made(), "onnxruntime")(prepared), made().network(prepared), atol=1e-5)
    assert len(place.read_bytes()) == len(whole)
    assert [each.name for each in place.parent.iterdir() if each.is_file()] == [place.name]


def test_a_cache_that_cannot_be_written_to_is_done_without(cache: Path, prepared: Tensor) -> None:
    cache.parent.mkdir(parents=True)
    cache.write_text("a file where the folder should be")
    assert torch.allclose(engine_for(made(), "onnxruntime")(prepared), made().network(prepared), atol=1e-5)


@pytest.mark.parametrize("missing", ["onnxruntime", "onnx", "onnxscript"])
def test_torch_computes_where_onnxruntime_is_not_installed(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    assert engine_for(made(), "auto").name == "torch"


def test_onnxruntime_that_was_asked_for_must_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(
        ConfigError, match=r"^backbone\.engine=onnxruntime is not installed: pip install 'smoothpl\[back"
    ):
        engine_for(made(), "onnxruntime")


class Sneaky(Pooled):
    """A network that the file cannot follow: its answer depends on how many images it sees."""

    def forward(self, pixels: Tensor) -> Tensor:
        return super().forward(pixels) * (2.0 if int(pixels.shape[0]) == 3 else 1.0)


def test_a_network_that_a_file_does_not_equal_is_left_to_torch(capsys: pytest.CaptureFixture[str]) -> None:
    encoder = Encoder(Sneaky(), "sneaky", "sneaky", 8)
    assert engine_for(encoder).name == "torch"
    assert "ONNX Runtime cannot compute sneaky (" in capsys.readouterr().err
    with pytest.raises(ConfigError, match=r"^backbone\.engine=onnxruntime cannot compute sneaky \(its vectors differ"):
        engine_for(encoder, "onnxruntime")


def test_where_the_older_export_fails_the_newer_one_is_tried(
    monkeypatch: pytest.MonkeyPatch, prepared: Tensor, cache: Path
) -> None:
    def broken(_: Encoder) -> bytes:
        raise ConversionError("no such export")

    monkeypatch.setattr(engine, "traced", broken)
    assert torch.allclose(engine_for(made(), "onnxruntime")(prepared), made().network(prepared), atol=1e-5)
    assert len(files(cache)) == 1


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_vectors_that_are_not_finite_are_refused(wrong: float) -> None:
    def compute(prepared: Tensor) -> Tensor:
        return torch.ones(len(prepared), 6).index_fill(0, torch.tensor([1, 3]), wrong)

    with pytest.raises(ConfigError, match=r"^backbone pooled gives vectors that are not finite for 2 of 5 images"):
        Engine(made(), "torch", compute)(torch.zeros(5, 3, 8, 8))


def test_an_encoder_on_a_gpu_is_computed_there(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder: Any = made()
    monkeypatch.setitem(encoder._buffers, "offset", SimpleNamespace(is_cuda=True))
    assert engine_for(encoder).name == "torch"


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^backbone\.engine=fast must be one of auto, onnxruntime, torch\.$"):
        engine_for(made(), "fast")
