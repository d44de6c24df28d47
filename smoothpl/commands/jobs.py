"""smoothpl jobs: list the runs of a sweep, their state, and the time they need"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.markup import escape
from rich.table import Table

from smoothpl.cli.arguments import read_arguments
from smoothpl.cli.messages import Terminal

if TYPE_CHECKING:  # torch is imported late: --help and a typo must not take seconds
    from smoothpl.run.grid import Job

USAGE = """smoothpl jobs [experiment=...] [knob=a,b ...]

Lists the runs that smoothpl train -m would start with the same arguments, which
of them are finished already (resume=auto skips these), and how long the others
would take on one core, estimated from one step on this machine, and the largest
memory of a step, counted for as many of its images as one device has:
  smoothpl jobs experiment=cifar10_40
  smoothpl jobs experiment=threshold benchmark=digits_40"""


def main(arguments: Sequence[str]) -> None:
    typed = read_arguments(arguments, USAGE)
    from smoothpl.run.estimate import estimate
    from smoothpl.run.grid import list_jobs

    jobs = list_jobs(typed.rest)
    console = Terminal()
    console.print(tabulate(jobs))
    for line in estimate(jobs):
        console.print(line, markup=False, highlight=False)


def tabulate(jobs: "list[Job]") -> Table:
    varied = [index for index, _ in enumerate(jobs[0].words) if len({job.words[index] for job in jobs}) > 1]
    table = Table(title=f"{len(jobs)} jobs", title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("", justify="right")
    for index in varied:
        table.add_column(escape(jobs[0].words[index].partition("=")[0]))
    table.add_column("steps", justify="right")
    table.add_column("state")
    for number, job in enumerate(jobs):
        values = [escape(job.words[index].partition("=")[2]) for index in varied]
        table.add_row(str(number), *values, str(job.config.max_steps), job.status or "-")
    return table
