"""Every method: what was published, its parts, whether its loss is continuously differentiable, and what it costs."""

from itertools import takewhile
from textwrap import fill, wrap
from typing import Any, NamedTuple

from omegaconf import DictConfig, ListConfig, OmegaConf

from smoothpl.config.compose import compose_checked
from smoothpl.config.describe import options
from smoothpl.config.knobs import conf_dir
from smoothpl.pseudo.obstacles import Obstacle
from smoothpl.run.build_method import build_method
from smoothpl.run.method_cost import cost_of

HEAD = """# Methods, and whether their loss is smooth

Written by `smoothpl methods`. A loss is C1 if it is continuously
differentiable in the parameters of the network. `shape=linear` stands for every
ramp: `square`, `sqrt` and any `power` are C1 with the same words. Add
`smooth=strict` to have anything refused that is not C1.

What is said of each method stands in its file, `conf/method/<name>.yaml`. Each
rule is checked by a test, and no published figure is: that takes days on a GPU
(docs/comparison.md says where other codebases have another rule). What a method
keeps is counted with 10 classes and 40 labels, and how often a step looks at an
image by what goes through the network, and what comes back through it."""
WIDTH = 80
LONGEST_WAY = 8


class Method(NamedTuple):
    name: str
    published: str  # the rule, whose it is, and known figures
    parts: dict[str, str]  # group: option
    obstacles: list[str]  # as published
    smooth_version: str  # what to add on the command line
    cost: str


def all_methods() -> list[Method]:
    """All that learn from pseudo-labels."""
    published = {name: compose_checked([f"method={name}"]) for name in options("method")}
    return [describe(name, config) for name, config in published.items() if config.policy is not None]


def describe(name: str, published: DictConfig) -> Method:
    smooth_version = " ".join(of_smooth(name, *ways_out(name)))
    cost = str(cost_of(compose_checked([f"method={name}", "batch_size=2"])))
    return Method(name, header(name), parts(name), list(map(str, reasons(published))), smooth_version, cost)


def header(name: str) -> str:
    """The comment that a method's file begins with."""
    lines = (conf_dir() / "method" / f"{name}.yaml").read_text().splitlines()
    comment = takewhile(lambda line: line.startswith("#"), lines)
    return " ".join(line.removeprefix("# ") for line in comment if not line.startswith("# @"))


def ways_out(name: str) -> list[str]:
    """Words that make the smooth version of a method C1: each obstacle brings its own."""
    words: list[str] = []
    for _ in range(LONGEST_WAY):
        left = [word for each in reasons(compose_checked(of_smooth(name, *words))) for word in each.words]
        added = [word for word in dict.fromkeys(left) if word not in words]
        if not added:
            break
        words += added
    return words


def of_smooth(name: str, *words: str) -> list[str]:
    return [f"method={name}", "shape=linear", *words]


def parts(name: str) -> dict[str, str]:
    """The option of each group that a method's file chooses."""
    chosen = OmegaConf.load(conf_dir() / "method" / f"{name}.yaml").defaults
    pairs = [(str(key).rpartition("/")[2], value) for each in chosen for key, value in each.items()]
    return {group: spelled(option) for group, option in pairs if option != "none"}


def spelled(option: Any) -> str:
    """As it is typed: a list in brackets, without quotes."""
    return f"[{','.join(option)}]" if isinstance(option, ListConfig) else str(option)


def reasons(config: DictConfig) -> list[Obstacle]:
    return build_method(config).obstacles


def page(listed: list[Method]) -> str:
    return "\n\n".join([HEAD, *map(section, listed)])


def typed(words: str) -> str:
    """As one would type it: a line that goes on ends with a backslash."""
    return " \\\n".join(
        wrap(words, WIDTH - 2, initial_indent="    ", subsequent_indent="      ", break_on_hyphens=False)
    )


def section(method: Method) -> str:
    lines = [f"## {method.name}", ""]
    lines += [fill(method.published, WIDTH, break_on_hyphens=False, break_long_words=False), ""]
    composed = " x ".join(f"{group}={option}" for group, option in method.parts.items())
    lines += [fill(composed, WIDTH, break_on_hyphens=False), "", fill(method.cost, WIDTH), ""]
    if method.obstacles:
        lines += ["Not C1 as published:", ""]
        lines += [fill(f"- {reason}", WIDTH, subsequent_indent="  ") for reason in method.obstacles]
        lines += ["", "C1 is:", "", typed(method.smooth_version)]
    else:
        lines += ["C1 as published."]
    return "\n".join(lines)
