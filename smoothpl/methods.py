"""python -m smoothpl.methods: which methods there are, of what they are composed, and whether their loss is smooth."""

from collections.abc import Sequence

from hydra import compose, initialize_config_dir
from hydra.utils import instantiate
from omegaconf import DictConfig
from rich import box
from rich.console import Console
from rich.table import Table

from smoothpl.cli import run_command
from smoothpl.config import conf_dir, register

TITLE = "Is the loss continuously differentiable (C1)?"
SMOOTHED = ("score=margin", "score=margin policy.counts=soft", "score=margin align.teaches=true")
"""What to add to a ramp, in the order of trying: the first that makes a method C1 is shown."""


def main() -> None:
    register()
    console = Console()
    table = Table("method", "composed of", "C1", "the same with a ramp", "C1", title=TITLE, box=box.SIMPLE_HEAD)
    for row in rows():
        table.add_row(*row)
    console.print(table)


def rows() -> list[Sequence[str]]:
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        return [
            row(path.stem) for path in sorted((conf_dir() / "method").glob("*.yaml")) if "supervised" not in path.stem
        ]


def row(method: str) -> Sequence[str]:
    parts = " x ".join(f"{group}={option}" for group, option in choices(method).items())
    published = reasons(compose("train", [f"method={method}"]))
    for extra in ([], *(each.split() for each in SMOOTHED)):
        words = [f"method={method}", "shape=linear", *extra]
        plain = compose("train", words[:1])
        if any(word.split("=")[0] not in flat(plain) for word in extra):
            continue
        if not reasons(compose("train", words)):
            return method, parts, verdict(published), " ".join(words[1:]), "yes"
    return method, parts, verdict(published), "shape=linear", verdict(reasons(compose("train", words[:2])))


def flat(config: DictConfig) -> list[str]:
    """Knobs, and the settings of the parts of a weighting."""
    return [*config, *(f"{part}.{key}" for part in ("align", "policy") for key in config[part])]


def choices(method: str) -> dict[str, str]:
    """The option of each group that a method's file chooses."""
    from omegaconf import OmegaConf

    chosen = OmegaConf.load(conf_dir() / "method" / f"{method}.yaml").defaults
    pairs = [(str(key).rpartition("/")[2], value) for each in chosen for key, value in each.items()]
    return {group: option for group, option in pairs if option != "none"}


def reasons(config: DictConfig) -> list[str]:
    from smoothpl.build import build_weighting
    from smoothpl.pseudo import obstacles

    return obstacles(build_weighting(config), instantiate(config.target))


def verdict(found: list[str]) -> str:
    return "no: " + "; ".join(found) if found else "yes"


if __name__ == "__main__":
    run_command(main)
