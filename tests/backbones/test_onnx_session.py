from typing import Any

import numpy as np
import torch

from smoothpl.backbones import onnx_session
from smoothpl.backbones.convert import traced
from smoothpl.backbones.onnx_session import AT_A_TIME, open_session, runner
from tests.backbones.conftest import made


def test_a_session_has_the_threads_of_torch_and_does_not_wait_busily() -> None:
    options = open_session(traced(made())).get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (torch.get_num_threads(), 1)
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"


class Recorded:
    """A session that remembers what it was asked."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def get_inputs(self) -> list[Any]:
        return [self]

    name, shape = "x", ["batch", 3, 4, 4]

    def run(self, _: None, given: dict[str, Any]) -> list[Any]:
        self.batches.append(len(given["x"]))
        return [given["x"].sum(axis=(2, 3), keepdims=True)]


def test_images_are_taken_a_few_at_a_time_and_maps_of_one_pixel_become_vectors() -> None:
    session, pixels = Recorded(), torch.randn(2 * AT_A_TIME + 3, 3, 4, 4)
    found = runner(session)(pixels)
    assert session.batches == [AT_A_TIME, AT_A_TIME, 3]
    assert torch.allclose(found, pixels.sum(dim=(2, 3)), atol=1e-5)


def test_pixels_may_lie_in_memory_in_any_order() -> None:
    pixels = torch.randn(4, 3, 6, 6).to(memory_format=torch.channels_last)
    session = open_session(traced(made(size=6)))
    assert torch.allclose(runner(session)(pixels), made(size=6).network(pixels), atol=1e-5)
    assert np.isfinite(runner(session)(pixels).numpy()).all()


def test_all_packages_that_write_and_read_files_are_installed_here() -> None:
    assert onnx_session.is_installed()
