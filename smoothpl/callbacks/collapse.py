"""Collapse: a class that the network stops predicting, noticed at the evaluation where it happens."""

from typing import Any, Literal, get_args

from lightning import Callback, LightningModule, Trainer

from smoothpl.cli.messages import Terminal
from smoothpl.errors import Interruption
from smoothpl.metrics.collapse import CollapseStory, Turn
from smoothpl.metrics.confusion import predicted_share
from smoothpl.module import SemiSupervisedModule

Action = Literal["warn", "stop", "pause"]
HEADINGS = {"collapsed": "COLLAPSED", "recovering": "recovering", "alive": "recovered"}
MOST_NAMED = 8
"""Classes in one line: many may collapse at once."""


class CollapseWatch(Callback):
    """Prints when a class that was predicted collapses, and when it recovers.

    A class is collapsed while the network predicts it for less than a fifth of its fair share of the test images (the
    paper's rule; a share does not depend on the number of classes), partly collapsed below a half.

    `action` is what happens then: a line in the terminal (`warn`), or the run also ends, with a checkpoint from which
    it can be resumed (`stop`), and with the advice to do so with more labels (`pause`).
    """

    def __init__(self, action: Action = "warn") -> None:
        if action not in get_args(Action):
            raise ValueError(f"callbacks.collapse.action={action} must be one of {', '.join(get_args(Action))}.")
        self.action = action
        self.interruption: Interruption | None = None
        self.story = CollapseStory()

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if trainer.sanity_checking:
            return
        assert isinstance(pl_module, SemiSupervisedModule)
        names = trainer.datamodule.source.class_names  # type: ignore[attr-defined]
        shares = predicted_share(pl_module.last_confusion).tolist()
        before = self.story.states
        news = self.story.see(trainer.global_step, shares, is_late=2 * trainer.global_step >= trainer.max_steps)
        for state, heading in HEADINGS.items():
            turns = [turn for turn in news if turn.state == state]
            if state == "alive":  # only after a collapse: a class that was merely rarer than others is no news
                turns = [turn for turn in turns if before[turn.number] != "partly"]
            if turns:
                self.say(trainer, f"{heading}: {describe(turns, names)}")
        collapsed = [names[turn.number] for turn in news if turn.state == "collapsed"]
        if collapsed and self.action != "warn":
            by = f"collapse of class {', '.join(collapsed)}"
            self.interruption = Interruption(by, wants_labels=self.action == "pause")
            trainer.should_stop = True  # after a checkpoint

    def say(self, trainer: Trainer, message: str) -> None:
        if trainer.is_global_zero:
            Terminal().print(f"step {trainer.global_step}: {message}", highlight=False, markup=False)

    def state_dict(self) -> dict[str, Any]:
        return {"turns": [list(turn) for turn in self.story.turns], "states": self.story.states}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.story = CollapseStory([Turn(*turn) for turn in state["turns"]], state["states"])


def describe(turns: list[Turn], names: list[str]) -> str:
    """Each class with how often it is predicted, relative to its fair share."""
    named = [f"{names[turn.number]} ({turn.share:.0%})" for turn in turns[:MOST_NAMED]]
    more = len(turns) - MOST_NAMED
    return ", ".join(named) + (f" and {more} more" if more > 0 else "")
