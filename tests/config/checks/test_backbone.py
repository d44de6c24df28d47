import pytest

from smoothpl.config.checks import check
from smoothpl.errors import ConfigError
from smoothpl.inference.first_suggestions import backbone_of
from tests.support.composing import composed

LITE = "backbone=efficientnet_lite0"
WRONG = {
    f"{LITE} backbone.views=0": r"backbone\.views=0 must be a whole number from 1 to 1,000: .*; 2 is usual",
    f"{LITE} backbone.views=-1": r"backbone\.views=-1 must be a whole number",
    f"{LITE} backbone.views=1.5": r"backbone\.views=1\.5 must be a whole number",
    f"{LITE} backbone.views=null": r"backbone\.views=None must be a whole number",
    f"{LITE} backbone.size=1": r"backbone\.size=1 must be a whole number of pixels from 2 to 8192; 96 or 224 suit",
    f"{LITE} backbone.size=96.5": r"backbone\.size=96\.5 must be a whole number of pixels",
    f"{LITE} backbone.size=large": r"backbone\.size=large must be a whole number of pixels",
    f"{LITE} backbone.crop=all": r"backbone\.crop=all must be a number in \(0, 1\], .*; 1 takes all of it",
    f"{LITE} backbone.crop=0": r"backbone\.crop=0 must be a number in",
    "backbone=[efficientnet_lite0,efficientnet_lite0]": r"names efficientnet_lite0 twice, .*; name each backbone once",
    "backbone=[efficientnet_lite0,none]": r"lite0,none\]: none is for a network that sees images, .*; leave it out",
    "backbone=[none,efficientnet_lite0]": r"none is for a network that sees images, and cannot be one of several",
    "backbone=embeddings backbone.views=3": r"backbone\.views=3 has no effect with backbone=embeddings: .*; leave it",
    "backbone=embeddings method=remixmatch": r"method=remixmatch turns images, and backbone=embeddings has one vector",
    f"{LITE} method=crmatch": r"method=crmatch teaches the features .*; use method=fixmatch, which",
    f"{LITE} refine=[power_mean]": r"refine=power_mean compares views by their logits, .*; leave it out, or use",
    "backbone=embeddings backbone.engine=torch": r"backbone\.engine=torch has no effect with backbone=embeddings",
}


@pytest.mark.parametrize("words", WRONG)
def test_a_backbone_that_cannot_be_is_refused_before_any_work_with_the_way_out(words: str) -> None:
    with pytest.raises(ConfigError, match=WRONG[words]):
        check(composed(*words.split()), words.split())


@pytest.mark.parametrize(
    "words",
    [
        f"{LITE} backbone.views=1 backbone.size=2 backbone.crop=1",
        "backbone=[efficientnet_lite0,efficientnet_lite2] backbone.views=3",
        "backbone=[efficientnet_lite0,embeddings] backbone.views=3",
        "backbone=[efficientnet_lite0]",
        "backbone=embeddings",
        "backbone=onnx",
        "backbone=none",
    ],
)
def test_what_goes_together_is_let_through(words: str) -> None:
    check(composed(*words.split()), words.split())


def test_first_suggestions_refuse_the_same() -> None:
    with pytest.raises(ConfigError, match=r"backbone\.size=1 must be a whole number of pixels"):
        backbone_of("efficientnet_lite0", ["backbone.size=1"])
