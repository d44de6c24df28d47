from pathlib import Path

import pytest

from smoothpl.results.pairing import tabulate
from smoothpl.results.runs import find_runs
from smoothpl.results.words import sentences
from tests.results.made_up import PAPERS, store_all


@pytest.mark.parametrize(
    ("smooth", "words"),
    [
        ([8, 7, 7, 7, 15, 8], "smooth beats fixmatch on 6 of 6 runs, p = 0.0156, the smallest possible with 6 pairs; "),
        (PAPERS["fixmatch"], "smooth and fixmatch are level on all 6 runs."),
        ([20] * 6, "smooth is never better than fixmatch (6 runs), p = 1; mean gain -10.72 points."),
        (
            [8],
            "smooth beats fixmatch on 1 of 1 run, p = 0.5, the smallest possible with 1 pair; mean gain 1.77 points.",
        ),
    ],
)
def test_a_sentence_says_as_much_as_the_pairs_do(tmp_path: Path, smooth: list[float], words: str) -> None:
    store_all(tmp_path, errors={"fixmatch": PAPERS["fixmatch"], "smooth": smooth})
    (table,) = tabulate(find_runs([tmp_path]))
    (sentence,) = sentences(table)
    assert sentence.startswith(words)


def test_what_correction_takes_away_is_said(tmp_path: Path) -> None:
    others = {"smooth": [9.7, 7.4, 7.4, 7.3, 15.5, 7.9], "flexmatch": [20.0] * 6, "uda": [20.0] * 6, "dash": [20.0] * 6}
    store_all(tmp_path, errors={"fixmatch": PAPERS["fixmatch"], **others})
    (table,) = tabulate(find_runs([tmp_path]))
    assert sentences(table)[2].endswith("Corrected for all recipes of the table (Holm), p = 0.0625: not significant.")
