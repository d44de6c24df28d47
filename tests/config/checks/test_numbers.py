import pytest

from smoothpl.config.checks import check
from smoothpl.errors import ConfigError
from tests.support.composing import OWN, composed

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
    "max_steps=99999999999999999999": r"max_steps=99999999999999999999 is too large; use a number up to",
    "data.num_workers=1000000": r"data\.num_workers=1000000 is too large; as many as there are cores",
    "data.channels=3": r"data\.channels=3, but data\.mean=\[0\.305\], which must have one number for each channel",
    "data.channels=grey": r"data\.channels=grey must be a positive whole number: 1 for grey",
    "net.norm_momentum=abc": r"net\.norm_momentum=abc must be a number",
    "batch_size=9999999999999": r"batch_size=9999999999999 is too large",
}


@pytest.mark.parametrize("words", WRONG)
def test_a_number_out_of_its_range_is_refused_with_the_way_out(words: str) -> None:
    with pytest.raises(ConfigError, match=WRONG[words]):
        check(composed(*words.split()), words.split())


@pytest.mark.parametrize("side", ["0", "-1", "abc", "32.5", "[32,32]", "null", "10000000", "1e3"])
def test_the_size_of_images_is_a_whole_number_of_pixels(side: str) -> None:
    words = ["benchmark=folder", *(word for word in OWN if "size" not in word), f"data.size={side}"]
    with pytest.raises(ConfigError, match=r"data\.size=.* must be a whole number of pixels.* from 1 to 8192"):
        check(composed(*words), words)
