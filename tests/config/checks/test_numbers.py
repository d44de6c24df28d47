import pytest

from smoothpl.config.checks import check
from smoothpl.errors import ConfigError
from tests.support.composing import composed

WRONG = {
    "max_steps=0": r"max_steps=0 must be a positive",
    "batch_size=-1": r"batch_size=-1 must be a positive",
    "eval_every=0": r"eval_every=0 must be a positive",
    "log_every=0": r"log_every=0 must be a positive",
    "fold=-1": r"fold=-1 must be a whole number from 0",
    "seed=-1": r"seed=-1 must be a whole number from 0",
    "seed=4294967296": r"seed=4294967296 must be a whole number from 0 to 2\^32 - 1",
    "ema_decay=1": r"ema_decay=1\.0 must lie in \[0, 1\)",
    "norm_momentum=0": r"norm_momentum=0\.0 must lie in \(0, 1\]",
    "data.num_workers=-1": r"data\.num_workers=-1 must be 0 or a positive",
    "accumulate=0": r"accumulate=0 must be a positive whole number",
    "checkpoint_every=0": r"checkpoint_every=0 must be a positive whole number",
}


@pytest.mark.parametrize("words", WRONG)
def test_a_number_out_of_its_range_is_refused_with_the_way_out(words: str) -> None:
    with pytest.raises(ConfigError, match=WRONG[words]):
        check(composed(*words.split()), words.split())
