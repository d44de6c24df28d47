"""python -m smoothpl.methods: which methods there are, of what they are composed, and whether their loss is smooth."""

from collections.abc import Sequence

from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf
from rich import box
from rich.console import Console
from rich.table import Table

from smoothpl.cli import run_command
from smoothpl.config import conf_dir
from smoothpl.errors import ConfigError
from smoothpl.looking import compose_checked, read_words

USAGE = """python -m smoothpl.methods

Lists every method that learns from pseudo-labels: of what it is composed,
whether its loss is continuously differentiable (C1) and why not, and its
smooth version. There is nothing to set."""
SMOOTHED = ("score=margin", "score=margin policy.counts=soft", "score=margin align.teaches=true")
"""What to add to a ramp, in the order of trying: the first that makes a method C1 is shown."""


def main() -> None:
    arguments, _ = read_words(USAGE)
    if arguments:
        raise ConfigError(f"{arguments[0]} has no effect here: all methods are listed.")
    table = Table("method", "composed of", "C1?", "smooth version", "C1?", box=box.SIMPLE_HEAD)
    for row in rows():
        table.add_row(*row)
    Console().print(table)


def rows() -> list[Sequence[str]]:
    methods = sorted(path.stem for path in (conf_dir() / "method").glob("*.yaml"))
    return [row(method) for method in methods if "supervised" not in method]  # these have no pseudo-labels


def row(method: str) -> Sequence[str]:
    parts = " x ".join(f"{group}={option}" for group, option in choices(method).items())
    plain = compose_checked([f"method={method}"])
    published = verdict(reasons(plain))
    for extra in ("", *SMOOTHED):
        words = ["shape=linear", *extra.split()]
        if not all(word.split("=")[0] in flat(plain) for word in words):
            continue
        if not reasons(compose_checked([f"method={method}", *words])):
            return method, parts, published, " ".join(words), "yes"
    ramp = compose_checked([f"method={method}", "shape=linear"])
    return method, parts, published, "shape=linear", verdict(reasons(ramp))


def flat(config: DictConfig) -> list[str]:
    """Knobs, and the settings of the parts of a weighting."""
    return [*config, *(f"{part}.{key}" for part in ("align", "policy") for key in config[part])]


def choices(method: str) -> dict[str, str]:
    """The option of each group that a method's file chooses."""
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
