"""What the user sees at the end: the record in one compact table."""

from pathlib import Path

from rich.console import Console
from rich.table import Table

from smoothpl.results.record import FILE_NAME, Record


def summarise(record: Record) -> Table:
    config, metrics = record.config, record.metrics
    table = Table(show_header=False, title_justify="left", title=f"{config['benchmark']}: {record.recipe}")
    table.add_column(justify="right")
    table.add_column()
    table.add_row("error (last)", f"[bold]{record.error:.2f} %[/bold] of {record.num_test} test images")
    for key, name in NAMES.items():
        if key in metrics:
            table.add_row(name, "NaN" if metrics[key] is None else f"{metrics[key]:.4f}")
    accuracy = zip(record.class_names, record.class_accuracy, strict=True)
    table.add_row(
        "class accuracy",
        "  ".join(f"{name}:\u00a0{'none' if share is None else f'{share:.0f}'}" for name, share in accuracy),
    )
    collapsed = ", ".join(record.class_names[c] for c in record.collapsed)
    table.add_row("collapsed classes", f"[bold red]{collapsed}[/bold red]" if collapsed else "none")
    table.add_row("duration", f"{record.duration or 0:.0f} s")
    return table


NAMES = {
    "train/labeled_loss": "supervised loss",
    "train/unlabeled_loss": "unsupervised loss",
    "train/coverage": "coverage",
    "train/weight_mean": "mean weight",
}


def print_summary(record: Record, run_dir: Path, console: Console | None = None) -> None:
    console = console or Console()
    console.print(summarise(record))
    # Outside the table, on a line of its own: a path must survive being copied.
    console.print(f"record: {run_dir / FILE_NAME}", soft_wrap=True, highlight=False)
