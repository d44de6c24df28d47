"""Collapse: a class that the network stops predicting, noticed at the evaluation where it happens."""

from typing import Any, Literal, get_args

from lightning import Callback, LightningModule, Trainer
from rich.console import Console

from smoothpl.module import SemiSupervisedModule
from smoothpl.results.confusion import COLLAPSED_BELOW, predicted_share

Action = Literal["warn", "stop", "pause"]


class CollapseWatch(Callback):
    """Tells when a class that was predicted collapses, and when it comes back.

    A class is collapsed while the network predicts it for less than a fifth of its fair share of the test images (the
    paper's rule; a share does not depend on the number of classes), partly collapsed below `partly_below`. A network
    that has just begun predicts few classes: what counts is a class that was alive and is not any more, or one that
    has not come alive in half of the run.

    What is told of a class is how often it is predicted, as a part of its share.

    `action` is what happens then: a line in the terminal (`warn`), or also the end of the run, with a checkpoint from
    which it can be resumed (`stop`), and the advice to do so with more labels (`pause`).
    """

    def __init__(self, action: Action = "warn", partly_below: float = 0.5) -> None:
        if action not in get_args(Action):
            raise ValueError(f"callbacks.collapse.action={action} must be one of {', '.join(get_args(Action))}.")
        if not COLLAPSED_BELOW <= partly_below <= 1:
            raise ValueError(f"callbacks.collapse.partly_below={partly_below} must be from {COLLAPSED_BELOW} to 1.")
        self.action = action
        self.partly_below = partly_below
        self.reason: str | None = None
        self.alive: set[int] = set()
        self.collapsed: set[int] = set()

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if trainer.sanity_checking:
            return
        assert isinstance(pl_module, SemiSupervisedModule)
        shares = predicted_share(pl_module.last_confusion).tolist()
        names = trainer.datamodule.source.class_names  # type: ignore[attr-defined]
        low = {number for number, share in enumerate(shares) if share < COLLAPSED_BELOW}
        late = 2 * trainer.global_step >= trainer.max_steps
        news = ((low & self.alive) | (low if late else set())) - self.collapsed
        back = self.collapsed - low
        self.alive |= set(range(len(shares))) - low
        self.collapsed = (self.collapsed | news) - back
        described = [f"{name} ({share:.0%})" for name, share in zip(names, shares, strict=True)]
        if news:
            self.tell(trainer, "COLLAPSED: ", [described[c] for c in sorted(news)])
        for partly, words in ((True, "recovering: "), (False, "recovered: ")):
            these = [described[c] for c in sorted(back) if (shares[c] < self.partly_below) == partly]
            if these:
                self.tell(trainer, words, these)
        if news and self.action != "warn":
            self.reason = f"collapse of class {', '.join(names[number] for number in sorted(news))}"
            trainer.should_stop = True  # after a checkpoint
        if news and self.action == "pause":
            self.tell(
                trainer, "to go on with more labels, add num_labels=... resume_allow=[num_labels,split] below", []
            )

    def tell(self, trainer: Trainer, words: str, classes: list[str]) -> None:
        if trainer.is_global_zero:
            Console().print(f"step {trainer.global_step}: {words}{', '.join(classes)}", highlight=False)

    def state_dict(self) -> dict[str, Any]:
        return {"alive": sorted(self.alive), "collapsed": sorted(self.collapsed)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.alive, self.collapsed = set(state["alive"]), set(state["collapsed"])
