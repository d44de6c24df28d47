"""python -m smoothpl.sheet: a contact sheet of a batch, to see what the network sees."""

from pathlib import Path

from omegaconf import DictConfig
from rich.console import Console

from smoothpl.cli.arguments import read_command_line
from smoothpl.cli.front_door import run_command
from smoothpl.errors import ConfigError

USAGE = """python -m smoothpl.sheet [knob=value ...] [step=0] [out=sheet.png]

Draws the first unlabeled images of a step as they are read, and their weak
and strong views, exactly as a run with these knobs sees them:
  python -m smoothpl.sheet benchmark=cifar10_40 out=sheet.png"""
COLUMNS = 12


def main() -> None:
    config, words = read_command_line(USAGE, "step", "out")
    step = words.get("step", "0")
    if not (step.isdecimal() and int(step) < config.max_steps):
        raise ConfigError(f"step={step} must be a step of the run, from 0 to {config.max_steps - 1}.")
    out = Path(words.get("out", "sheet.png"))
    draw(config, int(step), out)
    Console().print(f"picture: {out}", soft_wrap=True, markup=False, highlight=False)


def draw(config: DictConfig, number: int, out: Path) -> None:
    import torch
    from matplotlib.figure import Figure  # not pyplot: nothing to open, nothing to close
    from torchvision.utils import make_grid

    from smoothpl.build import build_data

    data = build_data(config)
    data.setup("fit")
    step = data.train_dataloader().dataset[number]
    columns = min(COLUMNS, len(step.unlabeled))
    if columns == 0:
        raise ConfigError(f"method={config.method} has no unlabeled images to show; use another method.")
    rows = {"read": step.unlabeled, "weak": data.views.weak(step.unlabeled, step.weak_plan)}
    if step.strong_plan is not None:
        rows["strong"] = data.views.strong(step.of_strong, step.strong_plan)
    figure = Figure(figsize=(columns, 3.4 / 3 * len(rows)), layout="constrained")
    for axes, (name, images) in zip(figure.subplots(len(rows), 1), rows.items(), strict=True):
        pixels = images[:columns] / 255 if images.dtype == torch.uint8 else images[:columns]
        axes.imshow(make_grid(pixels, nrow=columns, pad_value=1).permute(1, 2, 0).numpy())
        axes.set(ylabel=name, xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=100)


if __name__ == "__main__":
    run_command(main)
