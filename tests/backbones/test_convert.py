import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import onnx
import onnxruntime  # type: ignore[import-untyped]
import pytest
import torch
from torch import Tensor, nn

from smoothpl.backbones import Encoder, efficientnet_lite
from smoothpl.backbones.convert import ConversionError, exported, failing_as_conversion, traced
from smoothpl.backbones.onnx_session import open_session, runner
from smoothpl.errors import ConfigError
from tests.backbones.conftest import made


@pytest.mark.parametrize("write", [traced, exported])
def test_a_file_takes_any_number_of_images(write: Callable[[Encoder], bytes]) -> None:
    encoder = made()
    run = runner(open_session(write(encoder)))
    for number in (1, 2, 5):
        prepared = torch.randn(number, 3, 8, 8)
        assert torch.allclose(run(prepared), encoder.network(prepared), atol=1e-5)


def test_nothing_is_left_to_compute_for_each_batch_but_the_network(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Padding joins the convolutions: otherwise the images are copied five times more, and in another order."""
    place = tmp_path_factory.mktemp("network") / "optimised.onnx"
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath, options.log_severity_level = str(place), 3
    onnxruntime.InferenceSession(traced(efficientnet_lite("lite0", size=32)), options, ["CPUExecutionProvider"])
    kinds = Counter(node.op_type for node in onnx.load(place).graph.node)
    assert kinds["Conv"] == 49
    assert not {"Pad", "Shape", "Gather", "Clip"} & {*kinds}


@pytest.mark.parametrize("write", [traced, exported])
def test_attention_is_converted_and_stays_fast_in_torch(write: Callable[[Encoder], bytes]) -> None:
    """The one that torch fuses for inference, as in the transformers of torchvision."""
    torch.manual_seed(0)
    encoder = Encoder(Attentive(), "attentive", "attentive", 8)
    images = torch.randn(3, 3, 8, 8)
    found = runner(open_session(write(encoder)))(images)
    assert torch.allclose(found, encoder.network(images), atol=1e-5)
    assert torch.backends.mha.get_fastpath_enabled()


class Attentive(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, pixels: Tensor) -> Tensor:
        rows = pixels.flatten(1, 2)
        found: Tensor = self.attention(rows, rows, rows, need_weights=False)[0].mean(dim=1)
        return found


class Unknown(nn.Module):
    def forward(self, pixels: Tensor) -> Tensor:
        found: Tensor = torch.special.bessel_j0(pixels.flatten(1))
        return found


def test_an_export_that_fails_prints_nothing_amid_the_results(tmp_path: Path) -> None:
    """In a process of its own, whose stdout is a file: what C++ prints is buffered there."""
    code = """
import sys
from smoothpl.backbones import Encoder
from smoothpl.backbones.convert import ConversionError, traced
from tests.backbones.test_convert import Unknown
sys.stdout.write("before ")
try:
    traced(Encoder(Unknown(), "unknown", "unknown", 8))
except ConversionError:
    sys.stdout.write("after")
"""
    with open(tmp_path / "out", "w") as file:
        subprocess.run([sys.executable, "-c", code], check=True, stdout=file, cwd=Path(__file__).parents[2])
    assert (tmp_path / "out").read_text() == "before after"


def test_whatever_fails_says_so_in_one_line() -> None:
    with pytest.raises(ConversionError, match=r"^first$"), failing_as_conversion():
        raise RuntimeError("first\nsecond")
    with pytest.raises(ConversionError, match=r"^KeyError$"), failing_as_conversion():
        raise KeyError
    with pytest.raises(ConfigError, match="as it is"), failing_as_conversion():
        raise ConfigError("as it is")
