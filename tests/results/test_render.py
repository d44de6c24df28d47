import csv
from io import StringIO

import pytest
from rich.console import Console

from smoothpl.results.render import latex, to_csv, to_latex, to_markdown, to_terminal
from smoothpl.results.sheets import Cell, Column, Sheet, plus_minus

SHEET = Sheet(
    "digits_40: 100 % & more",
    [
        Column("recipe", is_number=False),
        Column("0", spare=1),
        Column("mean ± std"),
        Column("max", spare=2),
        Column("p"),
    ],
    [
        [
            Cell("a_b|c"),
            Cell("7.77", 7.77),
            plus_minus(1.25, 0.5, is_best=True),
            Cell("2.00", 2.0),
            Cell("0.0156", 0.015625),
        ],
        [Cell("[b]<i>"), Cell("-"), plus_minus(2, 1), Cell("3.00", 3.0), Cell("-")],
    ],
    ["a note with 5 %"],
)


def shown(width: int) -> str:
    console = Console(width=width, record=True, file=StringIO())
    console.print(to_terminal(SHEET, width))
    return console.export_text()


@pytest.mark.parametrize(("width", "hidden"), [(120, ()), (40, ("max",)), (34, ("max", "7.77"))])
def test_a_narrow_terminal_shows_what_matters_most(width: int, hidden: tuple[str, ...]) -> None:
    text = shown(width)
    for word in ("recipe", "mean ± std", "0.0156", "max", "7.77"):
        assert (word in text) == (word not in hidden)
    assert max(map(len, text.splitlines())) <= width


def test_names_are_shown_as_they_are() -> None:
    assert "[b]<i>" in shown(120)


def test_markdown_has_a_row_for_each_and_escapes_what_it_would_misread() -> None:
    lines = to_markdown(SHEET).splitlines()
    assert lines[2] == "| recipe | 0 | mean ± std | max | p |"
    assert lines[3] == "| --- | ---: | ---: | ---: | ---: |"
    assert lines[4] == r"| a\_b\|c | 7.77 | **1.25 ± 0.50** | 2.00 | 0.0156 |"
    assert lines[-1] == "a note with 5 %"


def test_a_spreadsheet_gets_all_digits_and_deviations_of_their_own() -> None:
    rows = list(csv.reader(StringIO(to_csv([SHEET, SHEET]))))
    assert rows[0] == ["table", "recipe", "0", "mean", "std", "max", "p"]
    assert rows[1] == ["digits_40: 100 % & more", "a_b|c", "7.77", "1.25", "0.5", "2", "0.015625"]
    assert rows[2][2:] == ["-", "2", "1", "3", "-"]
    assert len(rows) == 8


def test_latex_is_booktabs_with_the_best_in_bold() -> None:
    text = to_latex(SHEET)
    assert text.count(r"\\") == 3
    for word in (r"\toprule", r"\midrule", r"\bottomrule", r"\textbf{1.25 $\pm$ 0.50}", r"a\_b|c", r"100 \% \& more"):
        assert word in text
    assert text.count("{") == text.count("}")
    assert latex("^~\\") == r"\textasciicircum{}\textasciitilde{}\textbackslash{}"


def test_columns_for_which_there_is_no_room_are_told_of() -> None:
    many = Sheet("many", [Column("name", is_number=False), *(Column(str(n)) for n in range(30)), Column("p")], [])
    console = Console(width=40, record=True, file=StringIO())
    console.print(to_terminal(many, 40))
    text = " ".join(console.export_text().split())
    assert "columns do not fit here; out=report.html has them" in text
    assert text.startswith("many name 0 1")
    assert " p " in text


def test_a_name_is_never_a_formula_in_a_spreadsheet_and_a_number_stays_one() -> None:
    columns = [Column("class", is_number=False), Column("gain")]
    rows = list(csv.reader(StringIO(to_csv([Sheet("t", columns, [[Cell('=HYPERLINK("x")'), Cell("-0.50", -0.5)]])]))))
    assert rows[1] == ["t", '\'=HYPERLINK("x")', "-0.5"]
