import logging
import warnings

import pytest

from smoothpl.run.quiet import quiet_libraries


@pytest.mark.parametrize(
    "message",
    [
        "The 'train_dataloader' does not have many workers which may be a bottleneck.",
        "The number of training batches (3) is smaller than the logging interval Trainer(log_every_n_steps=10).",
        "Found 156 module(s) in eval mode at the start of training. This may lead to unexpected behavior.",
        "It is recommended to use `self.log('val/error', ..., sync_dist=True)` when logging on epoch level.",
    ],
)
def test_what_the_user_cannot_act_on_is_not_shown(message: str) -> None:
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        quiet_libraries()
        warnings.warn(message, UserWarning, stacklevel=1)
        warnings.warn("something new", UserWarning, stacklevel=1)
    assert [str(each.message) for each in shown] == ["something new"]


def test_lightning_speaks_of_trouble_only() -> None:
    quiet_libraries()
    assert logging.getLogger("lightning.pytorch").level == logging.WARNING
