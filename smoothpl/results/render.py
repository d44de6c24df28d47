"""A sheet where it is read: in a terminal, in Markdown, in a spreadsheet, in a paper."""

import csv
from io import StringIO

from rich import box
from rich.markup import escape
from rich.table import Table as RichTable

from smoothpl.io.csv_cells import guarded
from smoothpl.results.sheets import Cell, Column, Sheet

SHORTEST_NAME = 16
"""Characters of a name that must fit on one line; the rest of it may be wrapped."""


def to_terminal(sheet: Sheet, width: int) -> RichTable:
    """A table without vertical lines, so that six folds fit into 80 columns; what does not fit is left to the files."""
    shown = fitting(sheet, width)
    table = RichTable(title=escape(sheet.title), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for number in shown:
        column = sheet.columns[number]
        if column.is_number:
            table.add_column(escape(column.name), justify="right", no_wrap=True)
        else:
            table.add_column(escape(column.name), overflow="fold", min_width=min(SHORTEST_NAME, longest(sheet, number)))
    for row in sheet.rows:
        table.add_row(*(marked(row[number]) for number in shown))
    missing = [column.name for number, column in enumerate(sheet.columns) if number not in shown and not column.spare]
    if missing:
        table.caption = f"{len(missing)} columns do not fit here; out=report.html has them"
    return table


def fitting(sheet: Sheet, width: int) -> list[int]:
    """The indices of the columns for which there is room."""
    shown = list(range(len(sheet.columns)))
    for spare in (3, 2, 1):
        if sum(width_of(sheet, number) for number in shown) > width:
            shown = [number for number in shown if sheet.columns[number].spare < spare]
    while sum(width_of(sheet, number) for number in shown) > width and len(shown) > 2:
        shown.pop(len(shown) // 2)  # names are at the left, conclusions at the right
    return shown


def width_of(sheet: Sheet, number: int) -> int:
    needed = longest(sheet, number)
    return 2 + (needed if sheet.columns[number].is_number else min(needed, SHORTEST_NAME))


def longest(sheet: Sheet, number: int) -> int:
    return max([len(sheet.columns[number].name), *(len(row[number].text) for row in sheet.rows)])


def marked(cell: Cell) -> str:
    return f"[bold]{escape(cell.text)}[/bold]" if cell.is_best else escape(cell.text)


def to_markdown(sheet: Sheet) -> str:
    def line(cells: list[str]) -> str:
        return f"| {' | '.join(cells)} |"

    lines = [f"### {plain_markdown(sheet.title)}", ""]
    lines.append(line([plain_markdown(column.name) for column in sheet.columns]))
    lines.append(line(["---:" if column.is_number else "---" for column in sheet.columns]))
    for row in sheet.rows:
        lines.append(line([f"**{cell.text}**" if cell.is_best else plain_markdown(cell.text) for cell in row]))
    lines += [f"\n{plain_markdown(note)}" for note in sheet.notes]
    return "\n".join(lines) + "\n"


def plain_markdown(text: str) -> str:
    for character in "\\|*_`<>[]#":
        text = text.replace(character, f"\\{character}")
    return text.replace("\n", " ")


def to_csv(sheets: list[Sheet]) -> str:
    """All sheets below each other, each with its name in the first column."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for sheet in sheets:
        writer.writerow(["table", *split_names(sheet.columns)])
        for row in sheet.rows:
            values = [value for column, cell in zip(sheet.columns, row, strict=True) for value in split(column, cell)]
            writer.writerow([guarded(sheet.title), *values])
        writer.writerow([])
    return text.getvalue()


def split_names(columns: list[Column]) -> list[str]:
    """Column names of a spreadsheet, where mean and deviation have a column each."""
    return [name for column in columns for name in column.name.split(" ± ")]


def split(column: Column, cell: Cell) -> list[str]:
    if cell.std is not None:
        return [f"{cell.value:.10g}", f"{cell.std:.10g}"]
    parts = (cell.text if column.is_number else guarded(cell.text)).split(" ± ")
    if column.is_number and cell.value is not None and is_number(cell.text):
        parts = [f"{cell.value:.10g}"]  # with all its digits
    return parts + [""] * (len(column.name.split(" ± ")) - len(parts))


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def to_latex(sheet: Sheet) -> str:
    """A table with booktabs; the best mean is bold."""
    alignment = "".join("r" if column.is_number else "l" for column in sheet.columns)
    lines = [r"\begin{table}", r"  \centering", rf"  \begin{{tabular}}{{{alignment}}}", r"    \toprule"]
    lines.append("    " + " & ".join(latex(column.name) for column in sheet.columns) + r" \\")
    lines.append(r"    \midrule")
    for row in sheet.rows:
        cells = [rf"\textbf{{{latex(cell.text)}}}" if cell.is_best else latex(cell.text) for cell in row]
        lines.append("    " + " & ".join(cells) + r" \\")
    lines += [r"    \bottomrule", r"  \end{tabular}"]
    lines += [rf"  \caption{{{latex('. '.join([sheet.title, *sheet.notes]))}}}", r"\end{table}"]
    return "\n".join(lines) + "\n"


LATEX = {
    "\\": r"\textbackslash{}",
    "±": r"$\pm$",
    "→": r"$\to$",
    "<": r"$<$",
    ">": r"$>$",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
} | {character: f"\\{character}" for character in "&%$#_{}"}


def latex(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in text)
