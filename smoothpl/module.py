"""From batch to loss and from test images to confusion: the LightningModule, the same for every method."""

from collections.abc import Callable
from copy import deepcopy
from math import isfinite
from typing import Any, NamedTuple

import torch
from lightning import LightningModule
from torch import Tensor, nn
from torch.optim import SGD
from torchmetrics.classification import MulticlassConfusionMatrix

from smoothpl.data import Batch, SemiSupervisedData
from smoothpl.errors import DivergenceError
from smoothpl.losses import factor_loss, labeled_loss, unlabeled_loss
from smoothpl.metrics.collapse import PARTLY_BELOW
from smoothpl.metrics.confusion import collapsed_classes, error_rate, predicted_share
from smoothpl.metrics.reliability import Bin, Reliability, bins_of, calibration_error
from smoothpl.metrics.running_means import RunningMeans
from smoothpl.nets.finetuning.whole import WholeNetwork
from smoothpl.nets.heads import Head
from smoothpl.nets.several import SeveralHeads, each_head, for_each_head, heads_of
from smoothpl.nets.start import HeadStart
from smoothpl.nets.synced import synced
from smoothpl.optim import cosine
from smoothpl.pseudo import Beliefs, Fairness, Target, Weighting, probabilities, pseudo_labels
from smoothpl.pseudo.labels import from_probabilities

OF_LABELS = ("loss", "labeled_loss", "labeled_accuracy")
OF_PSEUDO_LABELS = ("unlabeled_loss", "coverage", "weight_mean", "confidence_mean")


MOST_CLASSES = 20
"""The share of every class is logged up to this number of classes; the record has it for any number."""


class Taught(NamedTuple):
    """What was taught in a step, (U,) each."""

    label: Tensor
    weight: Tensor
    confidence: Tensor
    predicted: Tensor  # the class before any alignment


def accuracy(logits: Tensor, label: Tensor) -> Tensor:
    return (each_head(logits).detach().argmax(dim=1) == for_each_head(label, logits)).float().mean()


def tempered(network: nn.Module, logits: Tensor) -> Tensor:
    """A head on frozen features has a temperature for confidences."""
    return network.confidences_of(logits) if isinstance(network, Head | SeveralHeads | WholeNetwork) else logits


def check_finite(means: dict[str, float], step: int) -> None:
    if not all(map(isfinite, means.values())):
        terms = ", ".join(f"{name} {value:.3g}" for name, value in means.items())
        raise DivergenceError(f"training has diverged by step {step}: {terms}. Try a lower optim.learning_rate.")


class SemiSupervisedModule(LightningModule):
    """A network that learns from labels and from its own pseudo-labels; without a weighting, from labels alone."""

    def __init__(
        self,
        network: nn.Module,
        optimizer: Callable[[nn.Module], SGD],
        num_classes: int,
        weighting: Weighting | None = None,
        target: Target | None = None,
        unlabeled_weight: float = 0.0,
        factor_weight: float = 0.0,
        fairness: Fairness | None = None,
        split_forward: bool = False,
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
        self.target = target
        self.unlabeled_weight = unlabeled_weight
        self.factor_weight = factor_weight
        self.fairness = fairness
        self.split_forward = split_forward
        self.log_every = log_every
        self.start = start
        names: tuple[str, ...] = OF_LABELS if weighting is None else OF_LABELS + OF_PSEUDO_LABELS
        names += ("factor_loss",) if factor_weight else ()
        names += ("fairness_loss",) if fairness is not None else ()
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
            self.weighting.prepare(len(data.fold.unlabeled), data.labeled_per_class)
        if stage == "fit" and self.trainer.world_size > 1:
            on_gpu = self.trainer.strategy.root_device.type == "cuda"
            self.network = (nn.SyncBatchNorm.convert_sync_batchnorm if on_gpu else synced)(self.network)

    def begin(self, start: HeadStart, data: SemiSupervisedData) -> None:
        """A head is scaled to its features, and may start from a probe; a checkpoint, if there is one, comes later."""
        labels, labeled = data.source.train.labels[data.fold.labeled], data.labeled_vectors()
        heads, first = heads_of(self.network), 0
        for head in heads:  # each on the features of its own backbone
            own = slice(first, first := first + head.dim)
            start.begin(head, (part[:, own] for part in data.unlabeled_vectors()), labeled[:, :, own], labels)
        self.average.load_state_dict(self.network.state_dict())

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        terms = self.learn_from_labels(batch) if self.weighting is None else self.learn_from_all(batch, self.weighting)
        self.health.add(terms)
        self.taught = Taught(*(terms[name] for name in Taught._fields)) if "label" in terms else None
        is_due = self.ends_step(batch_idx) and (self.global_step + 1) % self.log_every == 0
        if is_due or self.trainer.is_last_batch:
            means = self.health.flush()
            self.report({f"train/{name}": value for name, value in means.items()})
            check_finite(means, self.global_step + 1)
        return terms["loss"]

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
        (logits,) = self.together([batch.labeled])
        loss = labeled_loss(each_head(logits), for_each_head(batch.label, logits))
        return {"loss": loss, "labeled_loss": loss, "labeled_accuracy": accuracy(logits, batch.label)}

    def learn_from_all(self, batch: Batch, weighting: Weighting) -> dict[str, Tensor]:
        logits_labeled, logits_weak, logits_learned = self.all_logits(batch)
        logits_weak, of_labeled = (tempered(self.network, each) for each in (logits_weak, logits_labeled))
        pseudo = pseudo_labels(logits_weak, batch.image)
        beliefs = Beliefs(pseudo, probabilities(of_labeled.detach()), batch.label)
        weighting.see(beliefs)
        weight = weighting(pseudo)
        assert self.target is not None
        held_back = for_each_head(weighting.of_labeled(beliefs.labeled, batch.label), logits_labeled)
        labeled = labeled_loss(each_head(logits_labeled), for_each_head(batch.label, logits_labeled), held_back)
        lessons = weighting.lessons(pseudo)
        target, weights = (for_each_head(each, logits_learned) for each in (self.target(lessons), weight))
        unlabeled = unlabeled_loss(each_head(logits_learned), target, weights)
        loss = labeled + self.unlabeled_weight * unlabeled
        extra: dict[str, Tensor] = {}
        if self.factor_weight:
            # The same weight, this time with its gradient: the weak view learns to be surer.
            attached = from_probabilities(probabilities(logits_weak), batch.image)
            extra["factor_loss"] = factor_loss(weighting(attached))
            loss = loss + self.factor_weight * extra["factor_loss"]
        if self.fairness is not None:
            self.fairness.see(pseudo, weight)
            extra["fairness_loss"] = self.fairness(each_head(logits_learned), weights)
            loss = loss + extra["fairness_loss"]
        weighting.observe(pseudo, weight)
        return {
            "loss": loss,
            "labeled_loss": labeled,
            "labeled_accuracy": accuracy(logits_labeled, batch.label),
            "unlabeled_loss": unlabeled,
            "coverage": (weight > 0).float().mean(),
            "weight_mean": weight.mean(),
            "confidence_mean": pseudo.confidence.mean(),
            "label": lessons.label,
            "weight": weight,
            "confidence": lessons.confidence,
            "predicted": pseudo.label,
        } | extra

    def all_logits(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """Logits of the labeled images, the weak views and the learned views."""
        if self.split_forward:
            assert batch.strong is not None
            with torch.no_grad():
                (logits_weak,) = self.together([batch.weak])
            labeled, learned = self.together([batch.labeled, batch.strong])
            return labeled, logits_weak, learned
        # One forward for all views: BatchNorm sees them together, as in the paper's codebase.
        views = [batch.labeled, batch.weak] if batch.strong is None else [batch.labeled, batch.weak, batch.strong]
        labeled, logits_weak, *others = self.together(views)
        return labeled, logits_weak, others[0] if others else logits_weak

    def together(self, views: list[Tensor]) -> tuple[Tensor, ...]:
        compute = self.network.apart if isinstance(self.network, SeveralHeads) else self.network
        logits: Tensor = compute(torch.cat(views))
        return torch.split(logits, [len(view) for view in views])

    def compile_step(self, backend: str = "inductor") -> None:
        """Compiles all that happens between images and loss into one graph; a graph break is an error."""
        for name in ("learn_from_labels", "learn_from_all"):
            setattr(self, name, torch.compile(getattr(self, name), fullgraph=True, dynamic=False, backend=backend))

    def configure_optimizers(self) -> Any:
        optimizer = self.make_optimizer(self.network)
        schedule = cosine(optimizer, int(self.trainer.max_steps))
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
