"""The report: from runs to sections of words, tables and pictures."""

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from smoothpl.paper.recompute import of_random_labels, of_runs
from smoothpl.results import figures as pictures
from smoothpl.results.comparison import Statistics
from smoothpl.results.figures import Drawing
from smoothpl.results.label_sheets import label_sheets
from smoothpl.results.pairing import Duplicates
from smoothpl.results.runs import Protocol, Run
from smoothpl.results.sheets import (
    Cell,
    Column,
    Sheet,
    aggregate_sheet,
    comparison_sheet,
    errors_sheet,
    left_out_sheet,
    legend,
    number,
    paper_sheet,
    steps_sheet,
    sweep_sheet,
)
from smoothpl.results.tables import Table, aggregate, continuations, drops, increments, tabulate
from smoothpl.results.words import sentences


@dataclass(frozen=True)
class Options:
    """What can be asked of a report."""

    baseline: str = "fixmatch"
    protocol: Protocol = "last"
    statistics: Statistics = "exact"
    duplicates: Duplicates = "error"


@dataclass
class Section:
    title: str
    words: list[str] = field(default_factory=list)
    sheets: list[Sheet] = field(default_factory=list)
    drawings: list[Drawing] = field(default_factory=list)


@dataclass
class Report:
    title: str
    about: str
    legend: str
    sections: list[Section]
    runs: list[Run]

    @property
    def sheets(self) -> list[Sheet]:
        return [sheet for section in self.sections for sheet in section.sheets]

    @property
    def drawings(self) -> list[Drawing]:
        return [drawing for section in self.sections for drawing in section.drawings]

    @cached_property
    def list_of_runs(self) -> Sheet:
        """Every run, with where it is."""
        columns = [Column("recipe", is_number=False), Column("benchmark", is_number=False)]
        columns += [Column(name) for name in ("labels", "fold", "seed", "error, %", "above its best", "falls")]
        columns += [Column("status", is_number=False), Column("seconds"), Column("versions")]
        columns += [Column("where", is_number=False)]
        numbers = {versions: place for place, (versions, _) in enumerate(self.versions, start=1)}
        rows = [
            [
                Cell(run.name),
                Cell(f"{run.benchmark}, {run.split}"),
                number(run.num_labels, "d"),
                number(run.fold, "d"),
                number(run.seed, "d"),
                number(run.error),
                number(run.gap),
                number(run.falls, "d"),
                Cell(run.status),
                number(run.duration, ".0f"),
                number(numbers.get(described_versions(run)), "d"),
                Cell(Path(run.origin).name, link=run.origin or None),
            ]
            for run in self.runs
        ]
        return Sheet("All runs", columns, rows)

    @cached_property
    def recipes(self) -> dict[str, dict[str, Any]]:
        return {run.name: dict(sorted(run.knobs.items())) for run in self.runs if run.knobs}

    @cached_property
    def versions(self) -> list[tuple[str, int]]:
        """On what they were made."""
        return Counter(described_versions(run) for run in self.runs if run.versions).most_common()


def described_versions(run: Run) -> str:
    return ", ".join([*(f"{name} {version}" for name, version in run.versions.items()), f"commit {run.commit}"])


def build_report(runs: list[Run], options: Options, with_pictures: bool = True) -> Report:
    tables = tabulate(runs, options.baseline, options.statistics, options.duplicates)
    sections = [section_of(table, options, with_pictures) for table in tables]
    sections += filter(None, [labels_section(tables, options, with_pictures), split_section(tables, options)])
    if len(tables) > 1 or any(table.sweeps for table in tables):
        together = aggregate(tables, options.statistics)
        if together:
            sections.append(Section("All pairs together", sheets=[aggregate_sheet(together, options.baseline)]))
    if any(run.is_of_paper for run in runs):
        sections.append(paper_section())
    left_out = left_out_sheet(runs)
    if left_out is not None:
        sections.append(Section("Left out", sheets=[left_out]))
    own = [run for run in runs if not run.is_of_paper]
    finished = sum(run.counts for run in own)
    about = f"{len(own)} runs, {finished} of them finished." if own else "The paper's own numbers."
    return Report("smoothpl: errors of runs, compared", about, legend(options.statistics), sections, own)


def section_of(table: Table, options: Options, with_pictures: bool) -> Section:
    sheets = [errors_sheet(table, options.protocol), comparison_sheet(table)]
    sheets += [sweep_sheet(sweep, table) for sweep in table.sweeps]
    drawings = list(pictures.of_table(table)) if with_pictures else []
    return Section(str(table.place), sentences(table), [sheet for sheet in sheets if sheet is not None], drawings)


def labels_section(tables: list[Table], options: Options, with_pictures: bool) -> Section | None:
    """More labels, by training anew or by going on, and one way against the other."""
    section = Section("More labels", sheets=list(label_sheets(tables)))
    for way, steps in increments(tables, options.statistics).items():
        fell = sum(step.comparison.spread.mean > 0 for step in steps)
        shown = sum(step.comparison.p < 0.05 for step in steps)
        section.words.append(
            f"Probabilistic monotonicity, {way}: with more labels the mean error fell at {fell} of {len(steps)} steps, "
            f"and p < 0.05 at {shown}."
        )
        section.sheets += filter(None, [steps_sheet(f"What more labels bring, {way}", steps)])
    against = steps_sheet(
        "Going on, against training anew with as many labels", continuations(tables, options.statistics)
    )
    if against is not None:
        against.notes.append("A run that goes on has had the steps of the runs before it as well.")
        section.sheets.append(against)
    section.drawings += pictures.label_figures(tables) if with_pictures else []
    return section if section.sheets else None


def split_section(tables: list[Table], options: Options) -> Section | None:
    steps = drops(tables, options.statistics)
    sheet = steps_sheet("What another split costs: errors against balanced classes", steps)
    if sheet is None:
        return None
    sheet.notes.insert(
        0, "Here a gain is a drop: how much higher the error is. A small p says that a method is affected."
    )
    return Section("Splits", sheets=[sheet])


def paper_section() -> Section:
    """What can be made again from printed errors, and what can only be plausible."""
    recomputed, plausible = of_runs(), of_random_labels()
    same, possible = (sum(each.agrees for each in several) for several in (recomputed, plausible))
    words = [
        f"{same} of {len(recomputed)} published figures follow from the errors that the paper prints.",
        f"Of random labels it prints no folds: {possible} of {len(plausible)} figures are at least possible, gains as "
        "differences of printed means, p-values as such that six pairs can give.",
    ]
    return Section("The paper, made again", words, [paper_sheet([*recomputed, *plausible])])
