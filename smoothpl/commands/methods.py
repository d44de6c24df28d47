"""smoothpl methods: list every method, its parts, and whether its loss is smooth"""

from collections.abc import Sequence

from smoothpl.cli.arguments import read_options
from smoothpl.cli.messages import Terminal

USAGE = """smoothpl methods

Lists every method that learns from pseudo-labels: its parts, whether its loss
is continuously differentiable (C1), what keeps it from that, and its smooth
version. There are no options. docs/methods.md is this list:
  smoothpl methods > docs/methods.md"""


def main(arguments: Sequence[str]) -> None:
    read_options(arguments, USAGE)
    from smoothpl.run.methods import all_methods, page

    Terminal(soft_wrap=True).print(page(all_methods()), markup=False, highlight=False)
