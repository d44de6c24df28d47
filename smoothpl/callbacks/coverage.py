"""Coverage: an alarm when no unlabeled image is learned from, or when a class is not taught."""

from typing import Any, Literal, get_args

import torch
from lightning import Callback, LightningModule, Trainer
from torch import Tensor

from smoothpl.cli.messages import Terminal
from smoothpl.errors import ConfigError, Interruption
from smoothpl.metrics.coverage import Alarm, CoverageStory, describe_alarm
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.several import heads_of
from smoothpl.pseudo.labels import one_hot
from smoothpl.ranks import share_mean

Action = Literal["warn", "stop", "repair"]
COOLING, COLDEST = 0.5, 1 / 64
"""What a repair multiplies the temperature of confidences by, and where it ends."""


class CoverageWatch(Callback):
    """Looks at coverage over windows of `every` steps. It is low below `bound` in two windows in a row.

    `action`: a line in the terminal and the record (`warn`); the run ends, too, with a checkpoint (`stop`); or the
    temperature of confidences is halved (`repair`), which a head on frozen features has.
    """

    def __init__(self, every: int, bound: float = 0.01, action: Action = "warn") -> None:
        if action not in get_args(Action):
            raise ValueError(f"callbacks.coverage.action={action} must be one of {', '.join(get_args(Action))}.")
        if not 0 <= bound < 1:
            raise ValueError(f"callbacks.coverage.bound={bound} must lie in [0, 1): a share of the unlabeled images.")
        self.every = every
        self.action = action
        self.interruption: Interruption | None = None
        self.story = CoverageStory(bound)
        self.sums: Tensor | None = None  # images, those that count, then how many of every class
        self.restored: Tensor | None = None

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        assert isinstance(pl_module, SemiSupervisedModule)
        if self.action == "repair" and not heads_of(pl_module.network):
            raise ConfigError(
                "callbacks.coverage.action=repair lowers the temperature of a head, and this network has none; use "
                "warn or stop, or a backbone."
            )

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        assert isinstance(pl_module, SemiSupervisedModule)
        if pl_module.taught is None:  # learns from labels alone
            return
        label, weight, *_ = pl_module.taught
        counts = (weight > 0).float()
        names = trainer.datamodule.source.class_names  # type: ignore[attr-defined]
        number = counts.new_full((1,), len(counts))
        seen = torch.cat([number, counts.sum().unsqueeze(0), counts @ one_hot(label, len(names))])
        before = self.restored if self.sums is None else self.sums
        self.sums, self.restored = seen if before is None else before.to(seen) + seen, None
        if pl_module.ends_step(batch_idx) and trainer.global_step % self.every == 0:
            self.look(trainer, pl_module, list(names))

    def look(self, trainer: Trainer, module: SemiSupervisedModule, names: list[str]) -> None:
        assert self.sums is not None
        share_mean(self.sums)
        number, covered, *taught = self.sums.tolist()
        self.sums.zero_()
        for alarm in self.story.see(trainer.global_step, covered / number, taught):
            advice = self.answer(alarm, module)
            if trainer.is_global_zero:
                text = f"step {alarm.step}: {describe_alarm(alarm, names)}; {advice}"
                Terminal().print(text, highlight=False, markup=False)
            if self.action == "stop":
                self.interruption = Interruption(describe_alarm(alarm, names), wants_labels=False)
                trainer.should_stop = True  # after a checkpoint

    def answer(self, alarm: Alarm, module: SemiSupervisedModule) -> str:
        """What is done about it, or what to do."""
        if alarm.kind == "class":
            return "label more of them, or try align=uniform."
        if self.action != "repair":
            lower = "head.temperature" if heads_of(module.network) else "threshold"
            return f"the unlabeled images teach nothing: try a lower {lower}, policy=relative, or head.init=probe."
        heads = [*heads_of(module.network), *heads_of(module.average)]
        for head in heads:
            head.temperature.mul_(COOLING).clamp_(min=COLDEST)
        return f"head.temperature is {float(heads[0].temperature):.3g} from now on."

    def state_dict(self) -> dict[str, Any]:
        state: dict[str, Any] = {
            "alarms": [list(alarm) for alarm in self.story.alarms],
            "quiet": self.story.quiet,
            "was_covered": self.story.was_covered,
        }
        if self.sums is not None:
            share_mean(self.sums)
            state["sums"] = self.sums.clone()
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        alarms = [Alarm(*alarm) for alarm in state["alarms"]]
        self.story = CoverageStory(self.story.bound, alarms, state["quiet"])
        self.story.was_covered = state["was_covered"]
        self.restored = state.get("sums")
