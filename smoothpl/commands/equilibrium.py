"""smoothpl equilibrium: measure the unlabeled weight that suits a smooth method"""

from collections.abc import Sequence
from statistics import mean
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from smoothpl.cli.arguments import read_arguments
from smoothpl.cli.messages import Terminal
from smoothpl.cli.usage import options_of
from smoothpl.config.overrides import CommandLine

if TYPE_CHECKING:  # torch is imported late: --help and a typo must not take seconds
    from smoothpl.run.equilibrium import LossWeights

USAGE = """smoothpl equilibrium [knob=value ...] [folds=3] [steps=STEPS]

Trains a smooth method and the same one with shape=step (FixMatch, if nothing
else is typed) on the same folds, both with an unlabeled weight of 1, without
ever looking at the test set, and prints what the paper's appendix calls
equilibrium values: the unlabeled losses l_FM and l_SFM and the mean weight
l_Phi, over the second half of the steps; from these lambda_u, and the bound
below which the factor loss may help:
  smoothpl equilibrium benchmark=digits_40
  smoothpl equilibrium benchmark=cifar10_40 shape=sqrt steps=5000 folds=1

  folds=3       how many folds to measure on
  steps=STEPS   steps of each run, instead of max_steps"""


def main(arguments: Sequence[str]) -> None:
    typed = read_arguments(arguments, USAGE, *options_of(USAGE))
    num_folds = typed.number("folds", 3)
    steps = {"max_steps": typed.number("steps", 1)} if "steps" in typed.options else {}
    from smoothpl.run.command_line import complete
    from smoothpl.run.equilibrium import measure_loss_weights

    request = complete(CommandLine.parse(typed.rest))
    console = Terminal()
    found = []
    for fold in range(num_folds):
        line = request.line.adding({"fold": fold, "unlabeled_weight": "auto", **steps})
        config = request._replace(line=line).config()
        console.print(f"fold {fold}: two runs of {config.max_steps} steps ...", highlight=False)
        found.append(measure_loss_weights(config, config.max_steps, request.scan))
    console.print(tabulate(found))
    console.print(f"# smoothpl equilibrium {' '.join(arguments)}", soft_wrap=True, highlight=False)
    console.print(f"smooth_unlabeled_weight: {mean(each.unlabeled_weight for each in found):.2f}", highlight=False)
    bounds = [each.factor_bound for each in found if each.factor_bound is not None]
    if bounds:
        console.print(f"# a factor_weight that helps is below {mean(bounds):.2g}", highlight=False)


def tabulate(found: "list[LossWeights]") -> Table:
    table = Table("fold", box=box.SIMPLE_HEAD)
    for name in ("l_FM", "l_SFM", "l_Phi", "lambda_u", "bound of lambda_Phi"):
        table.add_column(name, justify="right")
    for fold, each in enumerate(found):
        table.add_row(str(fold), *("-" if value is None else f"{value:.3g}" for value in each))
    return table
