import pytest
from omegaconf import OmegaConf

from smoothpl.config.knobs import conf_dir
from smoothpl.config.method_parts import FURTHER_PARTS, OF_PSEUDO_LABELS
from tests.support.composing import composed, options


@pytest.mark.parametrize("method", [each for each in options("method") if each != "fully_supervised"])
def test_a_method_chooses_parts_of_a_method_and_nothing_else(method: str) -> None:
    chosen = OmegaConf.load(conf_dir() / "method" / f"{method}.yaml").defaults
    groups = {str(key).rpartition("/")[2] for each in chosen for key in each}
    assert groups <= {*OF_PSEUDO_LABELS, *FURTHER_PARTS}


@pytest.mark.parametrize("part", FURTHER_PARTS)
def test_fixmatch_has_none_of_the_further_parts(part: str) -> None:
    assert not composed("method=fixmatch")[part]
