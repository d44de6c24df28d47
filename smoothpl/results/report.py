"""The report: from runs to sections of sentences, sheets and charts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self, get_args

from smoothpl.errors import ConfigError
from smoothpl.results.chart import Chart
from smoothpl.results.class_sheets import class_sheets
from smoothpl.results.comparison import Statistics
from smoothpl.results.figures import label_charts, table_charts
from smoothpl.results.label_sheets import label_sheets
from smoothpl.results.pairing import Duplicates
from smoothpl.results.photographs import ClassTiles
from smoothpl.results.report_sheets import (
    aggregate_sheet,
    changes_sheet,
    comparison_sheet,
    errors_sheet,
    left_out_sheet,
    legend,
    runs_sheet,
    sweep_sheet,
)
from smoothpl.results.runs import REFUSED, Protocol, Run
from smoothpl.results.sentences import SIGNIFICANT, count, sentences
from smoothpl.results.sheets import Sheet
from smoothpl.results.stranger_sheet import stranger_sheet
from smoothpl.results.tables import Table, aggregate, continuations, drops, increments, tabulate

CHOICES = {"protocol": get_args(Protocol), "statistics": get_args(Statistics), "duplicates": get_args(Duplicates)}


@dataclass(frozen=True)
class Options:
    """What a user can choose."""

    baseline: str = "fixmatch"
    protocol: Protocol = "last"
    statistics: Statistics = "exact"
    duplicates: Duplicates = "error"

    @classmethod
    def parse(cls, typed: Mapping[str, str]) -> Self:
        for name, choices in CHOICES.items():
            if typed.get(name, choices[0]) not in choices:
                raise ConfigError(f"{name}={typed[name]} must be one of {', '.join(choices)}.")
        return cls(**typed)  # type: ignore[arg-type]


@dataclass
class Section:
    title: str
    sentences: list[str] = field(default_factory=list)
    sheets: list[Sheet] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    photographs: list[ClassTiles] = field(default_factory=list)


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
    def charts(self) -> list[Chart]:
        return [chart for section in self.sections for chart in section.charts]

    @cached_property
    def list_of_runs(self) -> Sheet:
        numbers = {software: place for place, (software, _) in enumerate(self.versions, start=1)}
        return runs_sheet(self.runs, numbers)

    @cached_property
    def recipes(self) -> dict[str, dict[str, Any]]:
        return {run.name: dict(sorted(run.knobs.items())) for run in self.runs if run.knobs}

    @cached_property
    def versions(self) -> list[tuple[str, int]]:
        """The software that runs were made with, and the number of runs for each."""
        return Counter(run.software for run in self.runs if run.versions).most_common()


def build_report(
    runs: list[Run], options: Options, with_pictures: bool = True, appendix: Sequence[Section] = ()
) -> Report:
    """`appendix`: sections made elsewhere; they stand before the runs that were left out."""
    tables = tabulate(runs, options.baseline, options.statistics, options.duplicates)
    sections = [section_of(table, options, with_pictures) for table in tables]
    sections += filter(None, [labels_section(tables, options, with_pictures), split_section(tables, options)])
    if len(tables) > 1 or any(table.sweeps for table in tables):
        together = aggregate(tables, options.statistics)
        if together:
            sections.append(Section("All pairs together", sheets=[aggregate_sheet(together, options.baseline)]))
    sections += appendix
    left_out = left_out_sheet(runs)
    if left_out is not None:
        sections.append(Section("Left out", sheets=[left_out]))
    own = [run for run in runs if not run.is_of_paper]
    made = [run for run in own if run.status != REFUSED]
    about = describe_runs(made, len(own) - len(made)) if own else "The paper's own numbers."
    return Report("smoothpl: comparison of runs", about, legend(options.statistics), sections, made)


def describe_runs(runs: list[Run], num_refused: int) -> str:
    refused = f"; {count(num_refused, 'job')} refused" if num_refused else ""
    return f"{count(len(runs), 'run')}, {sum(run.counts for run in runs)} of them finished{refused}."


def section_of(table: Table, options: Options, with_pictures: bool) -> Section:
    sheets = [errors_sheet(table, options.protocol), comparison_sheet(table)]
    sheets += [sweep_sheet(sweep, table) for sweep in table.sweeps]
    sheets += [*class_sheets(table, options.statistics), stranger_sheet(table)]
    charts = list(table_charts(table)) if with_pictures else []
    return Section(str(table.place), sentences(table), [sheet for sheet in sheets if sheet is not None], charts)


def labels_section(tables: list[Table], options: Options, with_pictures: bool) -> Section | None:
    """More labels, in runs from scratch and in continued ones, and one way against the other."""
    section = Section("More labels", sheets=list(label_sheets(tables)))
    for way, changes in increments(tables, options.statistics).items():
        fell = sum(change.comparison.spread.mean > 0 for change in changes)
        significant = sum(change.comparison.p < SIGNIFICANT for change in changes)
        section.sentences.append(
            f"Probabilistic monotonicity, {way}: more labels lowered the mean error in {fell} of {len(changes)} "
            f"comparisons, with p < {SIGNIFICANT} in {significant}."
        )
        section.sheets += filter(None, [changes_sheet(f"What more labels bring, {way}", changes)])
    against = changes_sheet(
        "Continued, against trained from scratch with as many labels", continuations(tables, options.statistics)
    )
    if against is not None:
        against.notes.append("A continued run has had the steps of the runs before it as well.")
        section.sheets.append(against)
    section.charts += label_charts(tables) if with_pictures else []
    return section if section.sheets else None


def split_section(tables: list[Table], options: Options) -> Section | None:
    changes = drops(tables, options.statistics)
    sheet = changes_sheet("What another split costs: errors against balanced classes", changes)
    if sheet is None:
        return None
    sheet.notes.insert(
        0, "Here a gain is a drop: how much higher the error is. A small p says that a method is affected."
    )
    return Section("Splits", sheets=[sheet])
