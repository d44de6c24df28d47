"""Collapse: a class that the network stops predicting, noticed at the evaluation where it happens."""

from typing import Any, Literal, get_args

from lightning import Callback, LightningModule, Trainer
from torch import Tensor

from smoothpl.cli.messages import Terminal
from smoothpl.errors import Interruption
from smoothpl.metrics.collapse import CollapseStory, Turn
from smoothpl.metrics.confusion import predicted_share, share_of_expected
from smoothpl.module import SemiSupervisedModule
from smoothpl.pseudo.labels import one_hot
from smoothpl.ranks import share_mean

Action = Literal["warn", "stop", "pause"]
By = Literal["test", "unlabeled"]
HEADINGS = {"collapsed": "COLLAPSED", "recovering": "recovering", "alive": "recovered"}
MOST_NAMED = 8
"""Classes in one line: many may collapse at once."""


class CollapseWatch(Callback):
    """Prints when a class that was predicted collapses, and when it recovers.

    A class is collapsed while the network predicts it for less than a fifth of its fair share of the test images (the
    paper's rule; a share does not depend on the number of classes), partly collapsed below a half.

    With `by="unlabeled"` no test image is looked at: what counts are the predictions of the live network for the weak
    views since the last evaluation, and the fair share of a class is its share of the labels that train.

    `action` is what happens then: a line in the terminal (`warn`), or the run also ends, with a checkpoint from which
    it can be resumed (`stop`), and with the advice to do so with more labels (`pause`).
    """

    def __init__(self, action: Action = "warn", by: By = "test") -> None:
        if by not in get_args(By):
            raise ValueError(f"callbacks.collapse.by={by} must be one of {', '.join(get_args(By))}.")
        if action not in get_args(Action):
            raise ValueError(f"callbacks.collapse.action={action} must be one of {', '.join(get_args(Action))}.")
        self.action = action
        self.by = by
        self.predicted: Tensor | None = None  # (C,) how often, since the last evaluation
        self.interruption: Interruption | None = None
        self.story = CollapseStory()

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        assert isinstance(pl_module, SemiSupervisedModule)
        if self.by == "test" or pl_module.taught is None:
            return
        names = trainer.datamodule.source.class_names  # type: ignore[attr-defined]
        seen = one_hot(pl_module.taught.predicted, len(names)).sum(dim=0)
        self.predicted = seen if self.predicted is None else self.predicted.to(seen) + seen

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if trainer.sanity_checking:
            return
        assert isinstance(pl_module, SemiSupervisedModule)
        names = trainer.datamodule.source.class_names  # type: ignore[attr-defined]
        shares = self.shares(trainer, pl_module)
        if shares is None:
            return
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

    def shares(self, trainer: Trainer, module: SemiSupervisedModule) -> list[float] | None:
        """How often each class is predicted, relative to its fair share; None if nothing was seen."""
        if self.by == "test":
            of_test: list[float] = predicted_share(module.last_confusion).tolist()
            return of_test
        if self.predicted is None:
            return None
        share_mean(self.predicted)
        expected = trainer.datamodule.labeled_per_class  # type: ignore[attr-defined]
        shares: list[float] = share_of_expected(self.predicted.cpu(), expected.cpu()).tolist()
        self.predicted = None
        return shares

    def say(self, trainer: Trainer, message: str) -> None:
        if trainer.is_global_zero:
            Terminal().print(f"step {trainer.global_step}: {message}", highlight=False, markup=False)

    def state_dict(self) -> dict[str, Any]:
        state: dict[str, Any] = {"turns": [list(turn) for turn in self.story.turns], "states": self.story.states}
        if self.predicted is not None:
            share_mean(self.predicted)
            state["predicted"] = self.predicted.clone()
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.story = CollapseStory([Turn(*turn) for turn in state["turns"]], state["states"])
        self.predicted = state.get("predicted")


def describe(turns: list[Turn], names: list[str]) -> str:
    """Each class with how often it is predicted, relative to its fair share."""
    named = [f"{names[turn.number]} ({turn.share:.0%})" for turn in turns[:MOST_NAMED]]
    more = len(turns) - MOST_NAMED
    return ", ".join(named) + (f" and {more} more" if more > 0 else "")
