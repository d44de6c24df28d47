"""From batch to loss and from test images to confusion: the LightningModule, the same for every method."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import torch
from lightning import LightningModule
from torch import Tensor, nn
from torch.optim import SGD
from torchmetrics.classification import MulticlassConfusionMatrix

from smoothpl.data import Batch, SemiSupervisedData
from smoothpl.losses import both
from smoothpl.metrics.collapse import PARTLY_BELOW
from smoothpl.metrics.confusion import collapsed_classes, error_rate, predicted_share
from smoothpl.metrics.finite import check_finite
from smoothpl.metrics.reliability import Bin, Reliability, bins_of, calibration_error
from smoothpl.metrics.running_means import RunningMeans
from smoothpl.nets.forwards import Forward, confidences_of, logits_of, look, watch
from smoothpl.nets.output import Output
from smoothpl.nets.several import accuracy, heads_of
from smoothpl.nets.start import HeadStart
from smoothpl.nets.stochastic import disturbed
from smoothpl.nets.synced import synced
from smoothpl.nets.with_heads import base_of, begin_alike
from smoothpl.optim import cosine
from smoothpl.pseudo import Weighting
from smoothpl.pseudo.judging import judge
from smoothpl.pseudo.mixing import Mix
from smoothpl.pseudo.teachers import Live, Teacher
from smoothpl.pseudo.train_step import Taught
from smoothpl.record.checkpoints import rename_parts
from smoothpl.terms.ascent import Ascent
from smoothpl.terms.labeled import loss_of_labels
from smoothpl.terms.lesson import LESSON, loss_name
from smoothpl.terms.term import Term

OF_LABELS = ("loss", "labeled_loss", "labeled_accuracy")
OF_PSEUDO_LABELS = ("coverage", "weight_mean", "confidence_mean")
MOST_CLASSES = 20
"""The share of every class is logged up to this number of classes; the record has it for any number."""


class SemiSupervisedModule(LightningModule):
    """A network that learns from labels and from its own pseudo-labels; without a weighting, from labels alone."""

    def __init__(
        self,
        network: nn.Module,
        optimizer: Callable[[nn.Module], SGD],
        num_classes: int,
        weighting: Weighting | None = None,
        terms: Mapping[str, Term] | None = None,
        teacher: Teacher | None = None,
        mix: Mix | None = None,
        ascent: Ascent | None = None,
        labeled_weight: float | None = None,
        forward: Forward = "joint",
        log_every: int = 10,
        start: HeadStart | None = None,
    ) -> None:
        super().__init__()
        self.network = network
        # The network that is evaluated: the EMA callback lets it follow the live one. A copy, not a swap, so that no
        # exception can leave the two exchanged.
        self.average = deepcopy(network).requires_grad_(False)
        self.make_optimizer = optimizer
        self.weighting = weighting
        self.all_terms = dict(terms or {})
        self.terms = nn.ModuleDict(self.all_terms)
        self.teacher = Live() if teacher is None else teacher
        self.mix = mix
        self.ascent = ascent
        self.labeled_weight = labeled_weight
        self.forward_mode = forward
        self.log_every = log_every
        self.start = start
        losses = [loss_name(name) for name in self.terms]  # the lesson is the first
        names = OF_LABELS if weighting is None else (*OF_LABELS, *losses[:1], *OF_PSEUDO_LABELS, *losses[1:])
        self.health = RunningMeans(names)
        self.confusion = MulticlassConfusionMatrix(num_classes, validate_args=False)
        self.reliability = Reliability()
        self.last_confusion: Tensor
        self.last_bins: list[Bin] = []
        self.taught: Taught | None = None
        """What the last step has taught, for callbacks."""

    def setup(self, stage: str) -> None:
        if stage == "fit" and self.start is not None:
            self.begin(self.start, self.trainer.datamodule)  # type: ignore[attr-defined]
        if stage == "fit" and self.weighting is not None:
            data: SemiSupervisedData = self.trainer.datamodule  # type: ignore[attr-defined]
            self.weighting.prepare(len(data.fold.unlabeled), data.labeled_per_class, data.num_labeled)
            for term in self.all_terms.values():
                term.prepare(len(data.fold.unlabeled), data.labeled_per_class)
        if stage == "fit" and self.trainer.world_size > 1:
            on_gpu = self.trainer.strategy.root_device.type == "cuda"
            self.network = (nn.SyncBatchNorm.convert_sync_batchnorm if on_gpu else synced)(self.network)

    def begin(self, start: HeadStart, data: SemiSupervisedData) -> None:
        """A head is scaled to its features, and may start from a probe; a checkpoint, if there is one, comes later."""
        labels, labeled = data.source.train.labels[data.fold.labeled], data.labeled_vectors()
        heads, first = heads_of(base_of(self.network)), 0
        for head in heads:  # each on the features of its own backbone
            own = slice(first, first := first + head.dim)
            start.begin(head, (part[:, own] for part in data.unlabeled_vectors()), labeled[:, :, own], labels)
        begin_alike(self.network)
        self.average.load_state_dict(self.network.state_dict())

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        weighting = self.weighting
        learned = self.learn_from_labels(batch) if weighting is None else self.learn_from_all(batch, weighting)
        self.health.add(learned)
        self.taught = Taught(*(learned[name] for name in Taught._fields)) if "label" in learned else None
        is_due = self.ends_step(batch_idx) and (self.global_step + 1) % self.log_every == 0
        if is_due or self.trainer.is_last_batch:
            means = self.health.flush()
            self.report({f"train/{name}": value for name, value in means.items()})
            check_finite(means, self.global_step + 1)
        return learned["loss"]

    def ends_step(self, batch_idx: int) -> bool:
        """Whether a batch is the last part of its step (accumulate)."""
        return (batch_idx + 1) % self.trainer.accumulate_grad_batches == 0

    def check_health(self, step: int) -> None:
        """Raises if a loss or weight is not finite. It waits for the device, so it is not called in every step."""
        numbers = [each for each in self.network.state_dict().values() if each.is_floating_point()]
        sizes = torch.stack([each.float().abs().amax() for each in numbers])
        check_finite(self.health.means() | {"largest weight": sizes.max().item()}, step)

    def report(self, means: dict[str, float], step: int | None = None) -> None:
        self.log_dict(means, logger=False)  # for callbacks
        for logger in self.loggers:  # directly: Lightning would keep the last step from them, if it is not a multiple
            logger.log_metrics(means, step=self.global_step if step is None else step)

    def learn_from_labels(self, batch: Batch) -> dict[str, Tensor]:
        logits = logits_of(self.network, batch.labeled)
        loss = loss_of_labels(logits, batch.label, batch.label_weight)
        return {"loss": loss, "labeled_loss": loss, "labeled_accuracy": accuracy(logits, batch.label)}

    def learn_from_all(self, batch: Batch, weighting: Weighting) -> dict[str, Tensor]:
        outputs = self.look(batch)
        step = judge(batch, outputs, self.teacher, weighting, self)
        logits, label = outputs["labeled"].logits, batch.label
        counts = both(weighting.of_labeled(step.beliefs.labeled, label), batch.label_weight)
        labeled = of_labels = loss_of_labels(logits, label, counts)
        if self.ascent is not None:
            step, of_labels = self.ascent(step, labeled, counts, self.forward_mode)
        loss = of_labels if self.labeled_weight is None else self.labeled_weight * of_labels
        losses: dict[str, Tensor] = {}
        for name, term in self.all_terms.items():
            term.see(step)
            losses[loss_name(name)] = term(step)
            loss = loss + term.weighted(losses[loss_name(name)])
        weighting.observe(step.pseudo, step.weight, outputs, batch)
        for term in self.all_terms.values():
            term.finish(step)
        return {
            "loss": loss,
            "labeled_loss": labeled,
            "labeled_accuracy": accuracy(logits, label),
            "coverage": (step.weight > 0).float().mean(),
            "weight_mean": step.weight.mean(),
            "confidence_mean": step.pseudo.confidence.mean(),
            "label": step.lessons.label,
            "weight": step.weight,
            "confidence": step.lessons.confidence,
            "predicted": step.pseudo.label,
        } | losses

    def set_unlabeled_weight(self, weight: float) -> None:
        """Of the lesson, which is what unlabeled_weight=auto measures."""
        self.all_terms[LESSON].weight = weight

    @property
    def looks_at_weak(self) -> bool:
        """Each view by itself may be left out if nobody asks for it, and the teacher looks at this one by itself."""
        asked = any(term.looks_at_weak for term in self.all_terms.values())
        refines = self.weighting is not None and len(self.weighting.further) > 0
        return asked or refines or self.forward_mode != "apart" or not self.teacher.looks_itself

    @property
    def remembers(self) -> bool:
        """Whether the method has a memory, which is made for whole steps."""
        parts = [] if self.weighting is None else [self.weighting, *self.terms.values()]
        return any(True for part in parts for _ in part.state_dict())

    def believe(self, logits: Tensor) -> Tensor:
        """Logits on the scale of confidences."""
        return confidences_of(base_of(self.network), logits)

    def average_logits(self, images: Tensor) -> Tensor:
        return logits_of(self.average, images)

    def look(self, batch: Batch) -> dict[str, Output]:
        """What the network makes of every view."""
        views = batch.all_views
        mixed = {} if self.mix is None else self.mix.images(batch, views)
        if not self.looks_at_weak:
            del views["weak"]
        if self.mix is None:
            return disturbed(self.network, look(self.network, views, self.forward_mode), batch.chance)
        asked = {name: views.pop(name) for name in self.mix.watched if name in views}
        watched = watch(self.network, asked, self.forward_mode) if asked else {}
        first = {"labeled": views.pop("labeled")} if "labeled" in views else {}
        seen = watched | look(self.network, first | mixed | views, self.forward_mode)
        return disturbed(self.network, seen, batch.chance)

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        rename_parts(checkpoint["state_dict"])

    def compile_step(self, backend: str = "inductor") -> None:
        """Compiles all that happens between images and loss into one graph; a graph break is an error."""
        for name in ("learn_from_labels", "learn_from_all"):
            setattr(self, name, torch.compile(getattr(self, name), fullgraph=True, dynamic=False, backend=backend))

    def configure_optimizers(self) -> Any:
        optimizer = self.make_optimizer(self.network)
        schedule = cosine(optimizer, int(self.trainer.max_steps), getattr(self.make_optimizer, "schedule", None))
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def validation_step(self, batch: tuple[Tensor, Tensor], batch_idx: int) -> Tensor:
        """Logits, for callbacks."""
        images, labels = batch
        logits: Tensor = self.average(images)
        self.confusion.update(logits, labels)
        self.reliability.update(logits, labels)
        return logits

    def on_validation_epoch_end(self) -> None:
        self.last_confusion = self.confusion.compute()
        self.last_bins = bins_of(self.reliability.compute())
        self.confusion.reset()
        self.reliability.reset()
        collapsed = collapsed_classes(self.last_confusion)
        shares = predicted_share(self.last_confusion).tolist()
        by_class = {f"val/share_of_class_{c}": share for c, share in enumerate(shares)}
        self.log_dict(
            {
                "val/error": error_rate(self.last_confusion),
                "val/collapsed_classes": float(len(collapsed)),
                "val/partly_collapsed_classes": float(
                    len(collapsed_classes(self.last_confusion, PARTLY_BELOW)) - len(collapsed)
                ),
                "val/calibration_error": calibration_error(self.last_bins),
            }
            | (by_class if len(by_class) <= MOST_CLASSES else {})
        )
