"""python -m benchmarks.before <checkout> [knob=value ...]: has a step of the old methods become slower?

Two processes, one with the code of another checkout (git worktree add) and one with that of this one, take turns at the
same steps on digits: batch, views, forward, weighting, losses, backward, SGD. CPU time of one core; the fastest turn of
each counts, so that a busy machine disturbs less.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from benchmarks.line import Line, show

METHODS = (
    *("supervised", "pseudo_label", "fixmatch", "smooth", "uda", "flexmatch", "freematch"),
    *("softmatch", "adamatch", "dash"),
)
"""Those of the commit that landed before the seams for further methods."""
TURNS = 25
STEPS = 20
"""Of a turn."""
AT_MOST = 1.02
HERE = Path(__file__).parents[1]

# What another checkout runs: only names that it has, too.
WORKER = """
import sys, time, warnings
import torch
warnings.simplefilter("ignore")
torch.set_num_threads(1)
from smoothpl.config.compose import compose_checked
from smoothpl.run.build import build_data, build_module
from smoothpl.run.quiet import quiet_libraries
quiet_libraries()
torch.manual_seed(0)
config = compose_checked(sys.argv[1:])
module, data = build_module(config), build_data(config)
data.setup("fit")
weighting = module.weighting
if weighting is not None:
    weighting.prepare(len(data.fold.unlabeled), data.labeled_per_class)
    for term in getattr(module, "all_terms", {}).values():
        term.prepare(len(data.fold.unlabeled), data.labeled_per_class)
optimizer = module.make_optimizer(module.network)
steps = iter(data.train_dataloader())
for line in sys.stdin:
    start = time.process_time()
    for _ in range(int(line)):
        batch = data.on_after_batch_transfer(next(steps), 0)
        learned = module.learn_from_labels(batch) if weighting is None else module.learn_from_all(batch, weighting)
        optimizer.zero_grad()
        learned["loss"].backward()
        optimizer.step()
    print(time.process_time() - start, flush=True)
"""


class Stepper(NamedTuple):
    """A process that makes steps when it is asked to."""

    process: "subprocess.Popen[str]"

    @classmethod
    def start(cls, checkout: Path, words: Sequence[str]) -> "Stepper":
        environment = os.environ | {"PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-c", WORKER, *words]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        return cls(subprocess.Popen(command, cwd=checkout, env=environment, text=True, **pipes))  # type: ignore[call-overload]

    def seconds(self, steps: int) -> float:
        """CPU seconds of one of them."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(f"{steps}\n")
            self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit("a process has stopped; what it said stands above.")
        return float(answer) / steps

    def stop(self) -> None:
        with suppress(BrokenPipeError):
            self.process.communicate()


def lines(before: Path, words: Sequence[str] = ()) -> Iterator[Line]:
    for method in METHODS:
        max_steps = STEPS * (TURNS + 1)
        knobs = (f"method={method}", f"max_steps={max_steps}", f"eval_every={max_steps}", *words)
        now, then = take_turns(HERE, before, knobs)
        yield Line(f"a step of {method}", 1e3 * now, 1e3 * then, "ms", "the other checkout", at_most=AT_MOST)


def take_turns(one: Path, other: Path, knobs: Sequence[str]) -> tuple[float, float]:
    """The fastest turn of each."""
    steppers = [Stepper.start(each, knobs) for each in (one, other)]
    try:
        for each in steppers:
            each.seconds(STEPS)  # memory is allocated
        turns = [[each.seconds(STEPS) for each in steppers] for _ in range(TURNS)]
    finally:
        for each in steppers:
            each.stop()
    ours, theirs = (min(times) for times in zip(*turns, strict=True))
    return ours, theirs


def main(arguments: Sequence[str]) -> None:
    if not arguments or not (Path(arguments[0]) / "smoothpl").is_dir():
        raise SystemExit(f"{' '.join(arguments) or 'no folder'}: name a checkout of smoothpl to compare this one with.")
    show(lines(Path(arguments[0]).absolute(), arguments[1:]))


if __name__ == "__main__":
    main(sys.argv[1:])
