from pathlib import Path

import pytest

from smoothpl.results.runs import find_runs
from smoothpl.results.tables import tabulate
from smoothpl.results.words import sentences
from tests.results.made_up import PAPERS, store_all


@pytest.mark.parametrize(
    ("smooth", "words"),
    [
        ([8, 7, 7, 7, 15, 8], "smooth beats fixmatch on 6 of 6 runs, p = 0.0156, the smallest possible with 6 pairs; "),
        (PAPERS["fixmatch"], "smooth and fixmatch are level on 6 runs."),
        (
            [20] * 6,
            "smooth has lower errors than fixmatch on 0 of 6 runs, higher ones on 6, p = 1; mean gain -10.72 points.",
        ),
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


def test_level_runs_are_told_and_do_not_make_six_pairs_too_few(tmp_path: Path) -> None:
    smooth = [*PAPERS["fixmatch"][:2], *(error - 1 for error in PAPERS["fixmatch"][2:])]
    store_all(tmp_path, errors={"fixmatch": PAPERS["fixmatch"], "smooth": smooth})
    (table,) = tabulate(find_runs([tmp_path]))
    expected = "smooth beats fixmatch on 4 of 6 runs, level ones on 2, p = 0.0625, the smallest possible with 4 pairs; "
    assert sentences(table)[0] == f"{expected}mean gain 0.67 points."
    (table,) = tabulate(find_runs([tmp_path]), statistics="paper")
    assert "smallest" not in sentences(table)[0]
