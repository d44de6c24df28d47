import pytest
from torch.utils.data import DataLoader, Dataset

from smoothpl.cli.front_door import explain
from smoothpl.errors import ConfigError


class Refusing(Dataset[int]):
    def __len__(self) -> int:
        return 1

    def __getitem__(self, number: int) -> int:
        raise ConfigError("picture.jpg is not an image; remove it.")


@pytest.mark.parametrize("num_workers", [0, 1])
def test_the_message_is_one_sentence_also_when_a_worker_raised_it(num_workers: int) -> None:
    """PyTorch hands an error over with the traceback of the other process in its message."""
    with pytest.raises(ConfigError) as caught:
        list(DataLoader(Refusing(), batch_size=None, num_workers=num_workers))
    assert explain(caught.value) == "picture.jpg is not an image; remove it."
