"""smoothpl dashboard: save a Weights & Biases workspace that suits the runs"""

from collections.abc import Sequence

from smoothpl.cli.arguments import read_options
from smoothpl.cli.messages import say
from smoothpl.cli.usage import options_of

USAGE = """smoothpl dashboard entity=NAME [project=smoothpl]

Saves a workspace for the runs of logger=wandb: errors grouped by recipe,
collapse, pseudo-labels and figures. Needs an API key (wandb login) and
pip install wandb-workspaces.

  entity=NAME        your user or team name
  project=smoothpl   the project of the runs"""


def main(arguments: Sequence[str]) -> None:
    typed = read_options(arguments, USAGE, *options_of(USAGE), needed=("entity",))
    from smoothpl.loggers.dashboard import build_workspace

    workspace = build_workspace(typed.options["entity"], typed.options.get("project", "smoothpl"))
    say(f"workspace: {workspace.save().url}")  # type: ignore[no-untyped-call]
