"""Runs that were never made: records with a configuration that was really composed, and errors as one likes."""

from pathlib import Path
from typing import Any

import torch

from smoothpl.config.recipe import recipe_name
from smoothpl.record.record import Evaluation, Record, new_record, write
from smoothpl.results.tables import Table
from tests.support.composing import composed


def made_up(method: str, fold: int, error: float | None, *knobs: str, seed: int = 2046, **more: Any) -> Record:
    config = composed(f"method={method}", *knobs)
    config.fold, config.seed = fold, seed
    changed = [knob for knob in knobs if not knob.startswith("labels_")]  # as conf/train.yaml leaves them out
    record = new_record(config, recipe_name(config, ",".join(changed)))
    record.status, record.num_test, record.duration = "finished", 500, 60.0
    record.class_names = [str(number) for number in range(10)]
    record.labeled = list(range(fold, fold + 40))
    if error is not None:
        record.take_history([Evaluation(500, error + 1, []), Evaluation(1000, error, [])])
    record.confusion = (10 * torch.eye(10, dtype=torch.int64)).tolist()
    for name, value in more.items():
        setattr(record, name, value)
    return record


def store(folder: Path, record: Record) -> Path:
    """In a directory of its own."""
    place = folder / f"{len(list(folder.glob('*'))):03}"
    place.mkdir(parents=True)
    write(place, record)
    return place


PAPERS = {
    "fixmatch": [9.77, 7.43, 7.48, 7.36, 15.60, 8.01],
    "flexmatch": [5.33, 5.13, 5.13, 14.73, 5.07, 5.32],
    "smooth": [6.25, 7.07, 5.45, 6.32, 11.44, 6.47],
}


def store_all(folder: Path, *knobs: str, errors: dict[str, list[float]] = PAPERS) -> Path:
    for method, of_folds in errors.items():
        for fold, error in enumerate(of_folds):
            store(folder, made_up(method, fold, error, *knobs))
    return folder


def only(tables: list[Table]) -> Table:
    (table,) = tables
    return table


def of(table: Table, method: str) -> Any:
    (row,) = [row for row in table.rows if row.kind.method == method]
    return row
