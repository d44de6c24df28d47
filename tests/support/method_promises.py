"""What every method of several parts keeps, for its test file to ask."""

from collections import Counter
from pathlib import Path

import pytest
import torch

from benchmarks.waiting import Synchronisations
from smoothpl import load
from smoothpl.errors import ConfigError
from smoothpl.nets.with_heads import BASE, HEADS, without_heads
from smoothpl.run.build import build_module
from smoothpl.run.training import train
from tests.support.composing import TINY, composed
from tests.support.lives import run
from tests.support.method_steps import module_and_batches

TWO = ("trainer=ddp", "trainer.devices=2", "trainer.accelerator=cpu")
CALM = ("optim.learning_rate=0.0001", "threshold=0.02")


def waits(*overrides: str, steps: int = 3) -> Counter[str]:
    """What makes the host wait for the device in a step, its memory included."""
    module, batches = module_and_batches(*overrides)
    assert module.weighting is not None
    found: Counter[str] = Counter()
    for _, batch in zip(range(steps), batches, strict=False):
        with Synchronisations() as synchronisations:
            module.learn_from_all(batch, module.weighting)["loss"].backward()  # type: ignore[no-untyped-call]
        found += synchronisations.found
    return found


def assert_needs_whole_steps(*overrides: str) -> None:
    with pytest.raises(ConfigError, match=r"accumulate=2: .* whole step"):
        build_module(composed(*TINY, *overrides, "accumulate=2"))


def assert_resumes(*overrides: str, steps: int = 6) -> None:
    """What a method remembers is all in its checkpoint: halfway, another one continues with it, to the bit."""
    (module, batches), (other, _) = (module_and_batches(*overrides, f"max_steps={steps}") for _ in range(2))
    losses = []
    for number, batch in enumerate(batches):
        if number == steps // 2:
            other.load_state_dict(module.state_dict())
        both = (module, other) if number >= steps // 2 else (module,)
        losses = [each.learn_from_all(batch, each.weighting)["loss"] for each in both if each.weighting]
        assert len({float(loss.detach()) for loss in losses}) == 1
    assert len(losses) == 2
    for name, value in module.state_dict().items():
        assert value.equal(other.state_dict()[name])


def assert_is_read_without_its_heads(run_dir: Path, *overrides: str) -> None:
    """A trained run is used as any other: nobody needs to know which heads it was trained with."""
    train(composed(*TINY, *overrides), run_dir)
    state = torch.load(run_dir / "last.ckpt", weights_only=True)["state_dict"]
    average = {name.removeprefix("average."): each for name, each in state.items() if name.startswith("average.")}
    assert any(name.startswith(HEADS) for name in average)
    assert {*without_heads(average)} == {name.removeprefix(BASE) for name in average if name.startswith(BASE)}
    classifier = load(run_dir)
    assert not any("heads" in name for name in classifier.network.state_dict())


def assert_ranks_agree(folder: Path, *overrides: str) -> None:
    """Two processes learn what one does."""
    states = []
    for name, words in (("one", ()), ("two", TWO)):
        done = run(folder / name, *overrides, *CALM, "max_steps=6", "batch_size=8", "eval_every=6", *words)
        assert done.returncode == 0, done.stderr
        states.append(torch.load(folder / name / "last.ckpt", weights_only=True)["state_dict"])
    for key, tensor in states[0].items():
        torch.testing.assert_close(states[1][key], tensor, rtol=1e-4, atol=1e-4)
