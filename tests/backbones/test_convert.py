from collections import Counter
from collections.abc import Callable

import onnx
import onnxruntime  # type: ignore[import-untyped]
import pytest
import torch

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


def test_whatever_fails_says_so_in_one_line() -> None:
    with pytest.raises(ConversionError, match=r"^first$"), failing_as_conversion():
        raise RuntimeError("first\nsecond")
    with pytest.raises(ConversionError, match=r"^KeyError$"), failing_as_conversion():
        raise KeyError
    with pytest.raises(ConfigError, match="as it is"), failing_as_conversion():
        raise ConfigError("as it is")
