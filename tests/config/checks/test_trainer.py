import pytest

from smoothpl.config.checks import check
from smoothpl.config.checks.trainer import seconds
from smoothpl.errors import ConfigError
from tests.support.composing import composed

WRONG = {
    "callbacks.ema=null": r"for no averaging use ema_decay=0",
    "trainer.max_steps=2": r"trainer\.max_steps=2 contradicts max_steps; set max_steps itself",
    "trainer.val_check_interval=2": r"trainer\.val_check_interval=2 contradicts eval_every",
    "trainer.devices=0": r"trainer\.devices=0 must be 1, or with trainer=ddp a larger number or auto",
    "trainer.devices=abc": r"trainer\.devices=abc must be 1, or with trainer=ddp",
    "trainer.devices=2": r"trainer\.devices=2: more than one device needs trainer=ddp as well",
    "trainer.accumulate_grad_batches=2": r"trainer\.accumulate_grad_batches=2 contradicts accumulate",
    "trainer.val_check_interval=7": r"trainer\.val_check_interval=7 contradicts eval_every",
    "+trainer.max_time=00:01:00:00": r"trainer\.max_time=.* would stop a resumed run at once; use max_time",
    "minutes=5": r"minutes=5 stands for max_steps, .*; type it on the command line of smoothpl\.train, not in a YAML",
    "max_time=soon": r"max_time=soon must be hours:minutes:seconds, for example max_time=23:30:00",
    "accumulate=3": r"accumulate=3 does not divide batch_size=16 into equal parts",
}


@pytest.mark.parametrize("words", WRONG)
def test_what_a_trainer_cannot_do_is_refused_with_the_way_out(words: str) -> None:
    with pytest.raises(ConfigError, match=WRONG[words]):
        check(composed(*words.split()), words.split())


@pytest.mark.parametrize(
    ("time", "number"),
    [("01:02:03", 3723), ("100:00:00", 360000), ("0:0:0", 0), ("1:00", None), ("1:2:x", None), ("", None)],
)
def test_a_time_is_hours_minutes_and_seconds(time: str, number: int | None) -> None:
    assert seconds(time) == number
