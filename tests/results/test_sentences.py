from pathlib import Path

import pytest

from smoothpl.metrics.paired import PairedErrors
from smoothpl.record.verdict import judge
from smoothpl.results.runs import find_runs
from smoothpl.results.sentences import sentences
from smoothpl.results.tables import tabulate
from tests.support.made_up import PAPERS, made_up, store, store_all

FEW = " So few pairs cannot give p < 0.05, whatever the errors are."


def sentence_on(folder: Path) -> str:
    (table,) = tabulate(find_runs([folder]))
    (sentence,) = sentences(table)
    return sentence


@pytest.mark.parametrize(
    ("smooth", "expected"),
    [
        (
            [8, 7, 7, 7, 15, 8],
            "smooth beats fixmatch on 6 of 6 folds, p = 0.0156, the smallest possible with 6 pairs; "
            "mean gain 0.61 points.",
        ),
        (
            [8.77, 6.43, 6.48, 6.36, 16.10, 8.01],
            "smooth beats fixmatch on 4 of 6 folds, loses on 1, level on 1, p = 0.0625; mean gain 0.58 points.",
        ),
        (
            [20] * 6,
            "fixmatch beats smooth on 6 of 6 folds; one-sided test of smooth being better: p = 1, "
            "mean gain -10.72 points.",
        ),
        (
            [8.77, 8.43, 8.48, 8.36, 16.60, 8.01],
            "fixmatch beats smooth on 4 of 6 folds, loses on 1, level on 1; one-sided test of smooth being better: "
            "p = 0.969, mean gain -0.50 points.",
        ),
        (
            [8.77, 6.43, 6.48, 8.36, 16.60, 9.01],
            "smooth and fixmatch win 3 of 6 folds each; one-sided test of smooth being better: p = 0.656, "
            "mean gain 0.00 points.",
        ),
        (
            [8.77, 6.93, 8.48, 7.36, 15.60, 8.21],
            "smooth and fixmatch win 2 of 6 folds each, level on 2; one-sided test of smooth being better: p = 0.5, "
            "mean gain 0.05 points.",
        ),
        (PAPERS["fixmatch"], "smooth and fixmatch are level on 6 folds."),
        (
            [8],
            "smooth beats fixmatch on 1 of 1 fold, p = 0.5, the smallest possible with 1 pair; "
            f"mean gain 1.77 points.{FEW}",
        ),
        (
            [10],
            "fixmatch beats smooth on 1 of 1 fold; one-sided test of smooth being better: p = 1, "
            f"mean gain -0.23 points.{FEW}",
        ),
        (PAPERS["fixmatch"][:1], "smooth and fixmatch are level on 1 fold."),
    ],
)
def test_a_sentence_says_as_much_as_the_pairs_do(tmp_path: Path, smooth: list[float], expected: str) -> None:
    store_all(tmp_path, errors={"fixmatch": PAPERS["fixmatch"], "smooth": smooth})
    assert sentence_on(tmp_path) == expected


def test_pairs_of_several_seeds_are_runs(tmp_path: Path) -> None:
    for method, error in (("fixmatch", 9.0), ("smooth", 8.0)):
        for fold, seed in ((0, 1), (0, 2), (1, 1)):
            store(tmp_path, made_up(method, fold, error, seed=seed))
    assert sentence_on(tmp_path).startswith("smooth beats fixmatch on 3 of 3 runs, p = 0.125")


def test_runs_that_are_not_compared_do_not_decide_what_pairs_are_called(tmp_path: Path) -> None:
    store(tmp_path, made_up("fixmatch", 0, 9.0))
    store(tmp_path, made_up("smooth", 0, 8.0))
    store(tmp_path, made_up("smooth", 0, 8.0, seed=1))
    assert sentence_on(tmp_path).startswith("smooth beats fixmatch on 1 of 1 fold, p = 0.5")


def test_what_correction_takes_away_is_said(tmp_path: Path) -> None:
    others = {"smooth": [9.7, 7.4, 7.4, 7.3, 15.5, 7.9], "flexmatch": [20.0] * 6, "uda": [20.0] * 6, "dash": [20.0] * 6}
    store_all(tmp_path, errors={"fixmatch": PAPERS["fixmatch"], **others})
    (table,) = tabulate(find_runs([tmp_path]))
    assert sentences(table)[2].endswith("Corrected for all recipes of the table (Holm), p = 0.0625: not significant.")


def test_level_pairs_are_named_and_do_not_make_six_pairs_too_few(tmp_path: Path) -> None:
    smooth = [*PAPERS["fixmatch"][:2], *(error - 1 for error in PAPERS["fixmatch"][2:])]
    store_all(tmp_path, errors={"fixmatch": PAPERS["fixmatch"], "smooth": smooth})
    expected = "smooth beats fixmatch on 4 of 6 folds, level on 2, p = 0.0625, the smallest possible with 4 pairs; "
    assert sentence_on(tmp_path) == f"{expected}mean gain 0.67 points."
    (table,) = tabulate(find_runs([tmp_path]), statistics="paper")
    assert "smallest" not in sentences(table)[0]


def test_a_report_says_what_runs_found_beside_their_twins(tmp_path: Path) -> None:
    fewer, more = PairedErrors(500, 40, 40, 10), PairedErrors(500, 40, 10, 40)
    for fold, pairs in enumerate((fewer, fewer, more)):
        verdict = judge(pairs, "test images")
        chosen = "labels_only" if pairs is more else ""
        store(tmp_path, made_up("smooth", fold, 10.0, verdict=verdict, handed_over=chosen))
    assert sentence_on(tmp_path) == (
        "smooth: in 3 runs the unlabeled images helped in 2, hurt in 1, and it cannot be told in 0; mean gain over "
        "labels alone 2.00 points. Labels alone are handed over in 1; the errors here are those with unlabeled images."
    )
