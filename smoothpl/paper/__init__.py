"""The paper's numbers as data: every error that it prints, and every figure that it derives from them."""

import csv
from pathlib import Path

from smoothpl.results.runs import PAPER, Run

FOLDER = Path(__file__).parent
KNOBS = {"threshold": float, "momentum": float, "weight_decay": float, "factor_weight": float}
NAMES = {
    "fixmatch": "FixMatch",
    "flexmatch": "FlexMatch",
    "smooth": "Smooth FixMatch",
    "smooth_square": "Smooth FixMatch-sq",
    "smooth_sqrt": "Smooth FixMatch-sqrt",
}


def read_table(name: str) -> list[dict[str, str]]:
    with (FOLDER / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def paper_runs(table: str | None = None) -> list[Run]:
    """The paper's errors as runs; one that is printed in several tables occurs as often."""
    return [as_run(row) for row in read_table("errors") if table in (None, row["table"])]


def as_run(row: dict[str, str]) -> Run:
    knobs = {name: kind(row[name]) for name, kind in KNOBS.items()}
    usual = {"threshold": usual_threshold(row["method"]), "momentum": 0.9, "factor_weight": 0.0}
    usual["weight_decay"] = 0.0005 if row["benchmark"] == "cifar10_40" else 0.001
    changed = [f"{name}={knobs[name]:g}" for name in KNOBS if knobs[name] != usual[name]]
    name = ", ".join([f"{NAMES[row['method']]} (paper)", *changed])
    return Run(
        recipe=f"paper {name}",
        name=name,
        benchmark=row["benchmark"],
        method=row["method"],
        split=row["split"],
        num_labels=int(row["num_labels"]),
        fold=int(row["fold"]),
        seed=int(row["seed"]),
        knobs={"data": row["benchmark"].partition("_")[0], "split": row["split"], **knobs},
        origin=PAPER,
        error=float(row["error"]),
    )


def usual_threshold(method: str) -> float:
    return {"smooth_square": 0.82, "smooth_sqrt": 0.98}.get(method, 0.95)
