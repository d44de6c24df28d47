"""The summary at the end of a run: its record in one compact table, and the confusion matrix where it fits."""

from math import isnan
from pathlib import Path

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from smoothpl.cli.messages import Terminal
from smoothpl.config.data_name import data_name
from smoothpl.layout import HEAD, RECORD
from smoothpl.metrics.coverage import describe_alarm
from smoothpl.metrics.interval import describe_interval
from smoothpl.record.record import LabelStage, Record, read
from smoothpl.results import unlabeled

METRICS = {
    "train/labeled_loss": "supervised loss",
    "train/unlabeled_loss": "unsupervised loss",
    "train/coverage": "coverage",
    "train/purity": "purity",
    "train/stranger_recall": "strangers not taught",
    "train/known_coverage": "known images taught",
    "train/weight_mean": "mean weight",
}
MOST_CLASSES = 12  # whose confusion matrix fits into 80 columns
MOST_LETTERS = 5  # of a class at the head of a column


def print_summary(record: Record, run_dir: Path, console: Console | None = None) -> None:
    """What the unlabeled images have brought stands in the first line; the table is of the network that is used."""
    console = console or Terminal()
    for sentence in unlabeled.sentences(record):
        console.print(sentence, highlight=False, markup=False)
    used, place = unlabeled.handed_over(record, run_dir)
    console.print(summarise(used))
    if used.config.get("finetune") is not None and (place / HEAD / RECORD).is_file():
        before = read(place / HEAD).error
        console.print(f"The head alone, before finetuning: {before:.2f} % error.", highlight=False, markup=False)
    if len(used.class_names) <= MOST_CLASSES:
        console.print(confusion_table(used))
    # Outside the table, on a line of its own: a path must survive being copied.
    console.print(f"record: {run_dir / RECORD}", soft_wrap=True, highlight=False, markup=False)


def summarise(record: Record) -> Table:
    title = f"{data_name(record.config)}: {record.name}"
    table = Table(show_header=False, title_justify="left", title=escape(title))
    table.add_column(justify="right")
    table.add_column()
    tested_on = record.tested_on or "test images"
    table.add_row("error (last)", f"[bold]{record.error:.2f} %[/bold] of {record.num_test} {tested_on}")
    if record.error is not None and record.num_test:
        wrong = round(record.error * record.num_test / 100)
        table.add_row("95 % interval", describe_interval(wrong, record.num_test))
    table.add_row("best, median of 20", f"{record.error_best:.2f} %, {record.error_median20:.2f} % (for information)")
    table.add_row("above its best by", f"{record.error_gap:.2f} points")
    for step, before, after in record.instability:
        table.add_row("sudden rise", f"[bold red]from {before:.2f} % to {after:.2f} % at step {step}[/bold red]")
    without = [record.class_names[c] for c, count in enumerate(record.labeled_per_class) if count == 0]
    if without:
        table.add_row("without a label", f"[bold yellow]{escape(', '.join(without))}[/bold yellow]")
    if record.num_strangers:
        table.add_row("strangers", f"{record.num_strangers} of {record.num_unlabeled} unlabeled images")
    if len(record.label_history) > 1:
        first, *more = record.label_history
        later = "".join(f", then {stage.num_labels}" + describe_since(stage) for stage in more)
        table.add_row("labels", f"{first.num_labels}{later}")
    if record.equilibrium:
        table.add_row("unlabeled weight", f"{record.equilibrium['unlabeled_weight']:.2f}, as measured before the run")
    for key, name in METRICS.items():
        if key in record.metrics:
            value = record.metrics[key]
            table.add_row(name, "NaN" if value is None else f"{value:.4f}")
    if record.calibration_error is not None:
        table.add_row("calibration error", f"{record.calibration_error:.4f}")
    accuracy = zip(record.class_names, record.class_accuracy, strict=True)
    table.add_row("class accuracy", "  ".join(f"{escape(name)}:{percent(share)}" for name, share in accuracy))
    add_warnings(table, record)
    table.add_row("duration", f"{record.duration or 0:.0f} s")
    return table


def add_warnings(table: Table, record: Record) -> None:
    """Classes that the network has stopped predicting, and unlabeled images that taught nothing."""
    collapsed = ", ".join(escape(record.class_names[c]) for c in record.collapsed)
    table.add_row("collapsed classes", f"[bold red]{collapsed}[/bold red]" if collapsed else "none")
    recovered = {turn.number for turn in record.turns if turn.state == "collapsed"} - set(record.collapsed)
    if recovered:
        table.add_row("recovered", escape(", ".join(record.class_names[c] for c in sorted(recovered))))
    for alarm in record.alarms:
        words = escape(describe_alarm(alarm, record.class_names))
        table.add_row("coverage alarm", f"[bold yellow]step {alarm.step}: {words}[/bold yellow]")


def confusion_table(record: Record) -> Table:
    """Rows are true classes, columns predictions; a dot stands for zero."""
    names = record.class_names
    short = [name[:MOST_LETTERS] for name in names]
    if len({*short}) < len(short):  # names that begin alike: numbers tell them apart
        short = [str(c) for c, _ in enumerate(names)]
        names = [f"{c} {name}" for c, name in enumerate(names)]
    table = Table(title="true class against predicted", title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    table.add_column("")
    for head in short:
        table.add_column(escape(head), justify="right", min_width=4)
    for true, (name, counts) in enumerate(zip(names, record.confusion, strict=True)):
        cells = [f"[bold]{count}[/bold]" if c == true else str(count or "·") for c, count in enumerate(counts)]
        table.add_row(escape(name), *cells)
    return table


def percent(share: float | None) -> str:
    return "none" if share is None or isnan(share) else f"{share:.0f}"


def describe_since(stage: LabelStage) -> str:
    if stage.since:
        return f" from step {stage.since} on"
    return "" if stage.run else " in this run"
