"""python -m smoothpl.report DIR...: the errors of many runs in one table, recipes against folds."""

import argparse
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from smoothpl.errors import ConfigError
from smoothpl.results.record import FILE_NAME, Record, read


def find_records(folders: Iterable[Path]) -> list[Record]:
    paths = sorted({path.parent.resolve() for folder in folders for path in folder.rglob(FILE_NAME)})
    if not paths:
        raise ConfigError(
            f"no {FILE_NAME} below {', '.join(map(str, folders))}; name a folder in which runs were made."
        )
    return [read(path) for path in paths]


def tabulate(records: list[Record]) -> Table:
    """Errors of the last checkpoint, in percent; deviations are those of the population (ddof = 0), as in the paper."""
    rows: dict[str, dict[tuple[int, int], float]] = defaultdict(dict)
    names: dict[str, str] = {}
    for record in records:
        if record.error is None or record.status != "finished":
            continue  # named below the table
        run = (record.config["fold"], record.config["seed"])
        if run in rows[record.recipe]:
            raise ConfigError(f"{record.name} was run twice with fold={run[0]} seed={run[1]}; name one sweep only.")
        rows[record.recipe][run] = record.error
        # One recipe may have been spelled in several ways; the shortest says enough.
        names[record.recipe] = min(record.name, names.get(record.recipe, record.name), key=len)
    runs = sorted({run for errors in rows.values() for run in errors})
    seeds = {seed for _, seed in runs}
    # No vertical lines: six folds have to fit into 80 columns.
    table = Table(
        title="error of the last checkpoint by fold, %", title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
    table.add_column("recipe", overflow="fold")
    for fold, seed in runs:
        table.add_column(f"{fold}" if len(seeds) == 1 else f"{fold}\nseed {seed}", justify="right")
    table.add_column("mean ± std", justify="right", no_wrap=True)
    for recipe, errors in rows.items():
        cells = [f"{errors[run]:.2f}" if run in errors else "-" for run in runs]
        values = list(errors.values())
        spread = f"{statistics.mean(values):.2f} ± {statistics.pstdev(values):.2f}"
        table.add_row(escape(names[recipe]), *cells, spread)
    return table


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m smoothpl.report", description=tabulate.__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR", help="a run, a sweep, or any folder of them")
    folders = parser.parse_args(arguments).folders
    console = Console()
    try:
        records = find_records(folders)
        console.print(tabulate(records))
    except ConfigError as error:
        sys.exit(str(error))
    for record in records:
        if record.status != "finished":
            where = f"fold={record.config['fold']} seed={record.config['seed']}"
            console.print(f"left out: {record.name} {where} is {record.status}", soft_wrap=True, markup=False)


if __name__ == "__main__":
    main()
