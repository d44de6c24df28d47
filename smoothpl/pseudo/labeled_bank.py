"""Labeled bank: the embedding of every labeled image, by which unlabeled ones are corrected (SimMatch)."""

from typing import final

import torch
from torch import Tensor
from torch.nn.functional import normalize

from smoothpl.data.batch import Batch
from smoothpl.errors import ConfigError
from smoothpl.pseudo.labels import one_hot
from smoothpl.pseudo.refinement import Outputs, Refinement
from smoothpl.pseudo.similarity import similarity
from smoothpl.ranks import of_all_ranks


@final
class LabeledBank(Refinement):
    """q = keep p + (1 - keep) (a summed by label), a = softmax(g . bank / temperature) over all labeled images.

    An embedding follows its image slowly: unit(momentum old + (1 - momentum) new). Nothing is corrected until every
    labeled image was seen once, so that none is compared with an embedding that there is not.
    """

    def __init__(
        self,
        num_classes: int,
        width: int,
        keep: float = 0.9,
        temperature: float = 0.1,
        momentum: float = 0.7,
        head: str = "projection",
    ) -> None:
        super().__init__()
        for name, value in (("keep", keep), ("momentum", momentum)):
            if not 0 <= value <= 1:
                raise ConfigError(f"refine.labeled_bank.{name}={value} must lie in [0, 1].")
        self.num_classes, self.width = num_classes, width
        self.keep, self.temperature, self.momentum, self.head = keep, temperature, momentum, head
        self.needs = frozenset({head})
        self.embeddings: Tensor  # (labeled images, d), 0 for those not seen
        self.label: Tensor  # (labeled images,)
        self.seen: Tensor  # (labeled images,)
        self.begin(1)

    def begin(self, num_labeled: int, device: torch.device | None = None) -> None:
        self.register_buffer("embeddings", torch.zeros(num_labeled, self.width, device=device))
        self.register_buffer("label", torch.zeros(num_labeled, dtype=torch.long, device=device))
        self.register_buffer("seen", torch.zeros(num_labeled, dtype=torch.bool, device=device))

    def prepare_images(self, num_unlabeled: int, num_labeled: int) -> None:
        """Called again for as many images it keeps its memory; for another number of them it begins anew."""
        if len(self.seen) != num_labeled:
            self.begin(num_labeled, self.seen.device)

    @property
    def is_ready(self) -> Tensor:
        return self.seen.all()

    def nearness(self, embeddings: Tensor) -> Tensor:
        """(n, d) -> logits (n, labeled images)."""
        # A copy: the bank moves on before gradients are asked for, which are by what it was.
        return similarity(embeddings, self.embeddings.clone(), self.temperature)

    def refine(self, probabilities: Tensor, outputs: Outputs | None, image: Tensor | None) -> Tensor:
        if outputs is None:
            return probabilities
        near = self.nearness(outputs["weak"].heads[self.head].detach()).softmax(dim=1)
        by_label = similarity(near, one_hot(self.label, self.num_classes).T)
        return torch.where(self.is_ready, self.keep * probabilities + (1 - self.keep) * by_label, probabilities)

    def observe(self, probabilities: Tensor, outputs: Outputs, batch: Batch) -> None:
        """An image that comes twice in a step is taken by the mean of its views, in whatever order they come."""
        assert batch.labeled_image is not None
        embeddings = of_all_ranks(outputs["labeled"].heads[self.head].detach()).to(self.embeddings.dtype)
        image, label = of_all_ranks(batch.labeled_image), of_all_ranks(batch.label)
        total = torch.zeros_like(self.embeddings).index_add_(0, image, embeddings)
        times = torch.zeros_like(self.embeddings[:, :1]).index_add_(0, image, torch.ones_like(embeddings[:, :1]))
        moved = normalize(torch.lerp(total / times.clamp(min=1), self.embeddings, self.momentum), dim=1)
        self.embeddings.copy_(torch.where(times > 0, moved, self.embeddings))
        self.label.index_copy_(0, image, label)  # of an image that comes twice it is the same
        self.seen.logical_or_(times.squeeze(1) > 0)
