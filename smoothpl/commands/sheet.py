"""smoothpl sheet: draw the images of a step with their weak and strong views"""

from collections.abc import Sequence

from smoothpl.cli.arguments import read_arguments
from smoothpl.cli.messages import say
from smoothpl.cli.usage import options_of
from smoothpl.config.overrides import CommandLine
from smoothpl.errors import ConfigError

USAGE = """smoothpl sheet [knob=value ...] [step=0] [out=sheet.png]

Draws the first unlabeled images of a step as they are read, and their weak
and strong views, exactly as a run with these knobs sees them:
  smoothpl sheet benchmark=cifar10_40 out=sheet.png

  step=0          which step
  out=sheet.png   the picture to write"""


def main(arguments: Sequence[str]) -> None:
    typed = read_arguments(arguments, USAGE, *options_of(USAGE))
    out = typed.picture("out", "sheet.png")
    from smoothpl.run.command_line import complete

    request = complete(CommandLine.parse(typed.rest))
    config = request.config()
    step = typed.options.get("step", "0")
    if not (step.isdecimal() and int(step) < config.max_steps):
        raise ConfigError(f"step={step} must be a step of the run, from 0 to {config.max_steps - 1}.")
    from smoothpl.plots.contact_sheet import draw
    from smoothpl.run.build import build_data

    config.backbone = None  # views are shown as pictures
    data = build_data(config, request.scan)
    data.setup("fit")
    if not config.unlabeled_ratio:
        raise ConfigError(f"method={config.method} has no unlabeled images to show; use another method.")
    draw(data.train_dataloader().dataset[int(step)], data.views, out)
    say(f"picture: {out}")
