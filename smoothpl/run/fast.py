"""trainer=fast, and trainer.precision=auto: the words that they stand for on this machine, and with this method."""

from collections.abc import Mapping
from copy import deepcopy
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from omegaconf import DictConfig

from smoothpl.cli.messages import inform
from smoothpl.config.checks import check
from smoothpl.config.checks.trainer import AUTO, EXACT, HALF
from smoothpl.config.compose import compose_checked
from smoothpl.config.overrides import CommandLine, is_sweep, key_of
from smoothpl.errors import ConfigError, require
from smoothpl.run.hydra_sweeper import expand

if TYPE_CHECKING:  # torch is imported late: refusing a typo must not take seconds
    from torch import nn

TRAINER, PRECISION, FORWARD = "trainer", "trainer.precision", "forward"
FAST = "fast"
AT_LEAST = 1.25
"""How many times as fast a step must be in bfloat16: less is not worth other bits."""
NOTHING: Mapping[str, object] = MappingProxyType({})


class Pick(NamedTuple):
    """`value`: empty if there is none for all runs of a sweep."""

    value: str
    why: str


def settled(line: CommandLine, beside: Mapping[str, object] = NOTHING) -> CommandLine:
    """The line with what is left to this machine, which is said; what was typed stays. `beside`: what is chosen for it
    besides.

    Words, so that they are recorded, decide the recipe, and are repeated when the run is resumed.
    """
    check_words(line)
    is_fast = line.get(TRAINER) == FAST
    finds_precision = line.get(PRECISION) == AUTO or (is_fast and PRECISION not in line.keys)
    finds_forward = is_fast and FORWARD not in line.keys
    if not (finds_precision or finds_forward):
        return line
    whole = line.adding({**beside, **({PRECISION: EXACT} if finds_precision else {})})
    jobs = [compose_checked(words) for words in recipes(whole)]
    picks: dict[str, Pick] = {}
    network = network_of(jobs[0])
    if finds_precision:
        picks[PRECISION] = pick_precision(jobs[0], network)
    if finds_forward:
        picks[FORWARD] = pick_forward(jobs, network)
    said = "; ".join(f"{key}={pick.value or 'as it is'} ({pick.why})" for key, pick in picks.items())
    inform(f"{f'{TRAINER}={FAST}' if is_fast else f'{PRECISION}={AUTO}'}: {said}.")
    return line.adding({key: pick.value for key, pick in picks.items() if pick.value})


def check_words(line: CommandLine) -> None:
    for word in line.words:
        key, _, text = word.partition("=")
        left = {FAST, AUTO} & {each.strip() for each in text.split(",")}
        require(
            key_of(word) not in (TRAINER, PRECISION) or not left or not is_sweep(word),
            f"{word}: what {key}={''.join(left)} stands for is found once for all runs of a sweep; name it, for "
            f"example {PRECISION}={EXACT},{HALF}.",
        )
    require(
        line.get(TRAINER) != "ddp" or line.get(PRECISION) != AUTO,
        f"{PRECISION}={AUTO} is found by one process; with trainer=ddp name it, for example {PRECISION}={HALF}.",
    )


def recipes(line: CommandLine) -> list[list[str]]:
    """The words of the jobs of a sweep, or of the only run, once for all folds and seeds."""
    jobs = expand(line.words_to_compose)
    once = (tuple(word for word in job if key_of(word) not in ("fold", "seed")) for job in jobs)
    return [[*words] for words in dict.fromkeys(once)]


def network_of(config: DictConfig) -> "nn.Module":
    """As it learns, and without weights from files: it is only timed."""
    from smoothpl.config.stages import of_network
    from smoothpl.run.build import build_module
    from smoothpl.run.precision import check_accelerator

    check_accelerator(config.trainer.accelerator)
    return build_module(of_network(config), with_pretrained=False).network.train()


def pick_precision(config: DictConfig, network: "nn.Module") -> Pick:
    """By the first run of a sweep."""
    from smoothpl.config.stages import of_network
    from smoothpl.nets.heads import Head
    from smoothpl.nets.several import SeveralHeads
    from smoothpl.run.bfloat16 import compare, may_have_it
    from smoothpl.run.precision import gpu_computes_in_bfloat16, is_on_gpu
    from smoothpl.run.trial import TrialError

    if isinstance(network, Head | SeveralHeads):
        return Pick(EXACT, "a head on features takes milliseconds, and its errors in bfloat16 were not measured")
    if is_on_gpu(config.trainer.accelerator):
        if gpu_computes_in_bfloat16():
            return Pick(HALF, "which this GPU computes in; probabilities and thresholds stay in 32 bits")
        return Pick(EXACT, f"this GPU does not compute in bfloat16; {PRECISION}=16-mixed may be faster")
    if not may_have_it():
        return Pick(EXACT, "this processor has no instructions for bfloat16, neither avx512_bf16 nor AMX")
    try:
        times = compare(of_network(config), network)
    except TrialError as error:
        return Pick(EXACT, f"bfloat16 was tried, and {error}")
    measured = f"a step takes {times.half:.2g} s of a core in bfloat16, {times.exact:.2g} s in 32 bits"
    if times.gain < AT_LEAST:
        return Pick(EXACT, measured)
    return Pick(HALF, f"{measured}; probabilities and thresholds stay in 32 bits")


def pick_forward(jobs: list[DictConfig], network: "nn.Module") -> Pick:
    """The same for all runs of a sweep, so that they can be compared."""
    from torch.nn.modules.batchnorm import _BatchNorm

    for config in jobs:
        if why := against_split(config):
            forwards = {each.forward for each in jobs}
            return Pick(config.forward if len(forwards) == 1 else "", why)
    compares = any(isinstance(each, _BatchNorm) and each.training for each in network.modules())
    change = "; BatchNorm sees them apart, which is another algorithm than the paper's" if compares else ""
    return Pick("split", f"weak views without gradient, a third less work{change}")


def against_split(config: DictConfig) -> str:
    """Why the weak views cannot do without a gradient; empty if they can."""
    from smoothpl.run.build_method import build_method

    if config.policy is None:
        return f"method={config.method} has no weak views"
    if config.forward != "joint":
        return f"method={config.method} has forward={config.forward}"
    split = deepcopy(config)
    split.forward = "split"
    try:
        check(split)
        build_method(split)
    except ConfigError as error:
        return str(error).partition(";")[0].removesuffix(".")
    return ""
