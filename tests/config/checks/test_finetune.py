import re

import pytest

from smoothpl.config.checks import check
from smoothpl.errors import ConfigError
from tests.support.composing import SMALL, composed, options


@pytest.mark.parametrize("option", options("finetune"))
def test_every_way_of_finetuning_goes_with_a_backbone(option: str) -> None:
    config = composed(*SMALL, f"finetune={option}")
    check(config)
    assert option == ("none" if config.finetune is None else config.finetune.mode)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("finetune=norms", "finetune=norms needs a backbone to finetune; add for example backbone=efficientnet_lite0"),
        (
            "backbone=[efficientnet_lite0,efficientnet_lite2] finetune=last",
            "finetune=last takes one backbone at a time, and there are 2 (efficientnet_lite0, efficientnet_lite2)",
        ),
        ("SMALL finetune=norms finetune.mode=some", "finetune.mode=some must be one of norms, last, lora, all."),
        ("SMALL finetune=norms finetune.max_steps=0", "finetune.max_steps=0 must be a positive whole number."),
        ("SMALL finetune=norms finetune.eval_every=2.5", "finetune.eval_every=2.5 must be a positive whole number."),
        ("SMALL finetune=norms finetune.batch_size=x", "finetune.batch_size=x must be a positive whole number."),
        ("SMALL finetune=norms finetune.unlabeled_ratio=0", "finetune.unlabeled_ratio=0 must be a positive whole"),
        ("SMALL finetune=last finetune.blocks=-1", "finetune.blocks=-1 must be a positive whole number."),
        ("SMALL finetune=lora finetune.rank=-1", "finetune.rank=-1 must be a whole number from 0 up; 8 is usual"),
        ("SMALL finetune=lora finetune.alpha=0", "finetune.alpha=0 must be a positive number; 16 is usual."),
        ("SMALL finetune=norms batch_size=12 accumulate=3", "accumulate=3 does not divide batch_size=16 into equal"),
    ],
)
def test_what_cannot_be_finetuned_is_refused_in_one_line(words: str, message: str) -> None:
    config = composed(*(each for word in words.split() for each in (SMALL if word == "SMALL" else (word,))))
    with pytest.raises(ConfigError, match=f"^{re.escape(message)}") as error:
        check(config)
    assert "\n" not in str(error.value)
