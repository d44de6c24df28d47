import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread_and_one_seed() -> None:
    """Tests run side by side, and none may depend on what ran before it."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
