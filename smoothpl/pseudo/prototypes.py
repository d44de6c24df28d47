"""Prototypes: beliefs blended with those of a classifier by mean embeddings, the more the commoner the class."""

from typing import final

import torch
from torch import Tensor
from torch.nn.functional import normalize

from smoothpl.data.batch import Batch
from smoothpl.errors import require
from smoothpl.pseudo.labels import one_hot
from smoothpl.pseudo.obstacles import Obstacle
from smoothpl.pseudo.refinement import Outputs, Refinement
from smoothpl.pseudo.similarity import similarity
from smoothpl.ranks import of_all_ranks


@final
class Prototypes(Refinement):
    """q = (1 - b) p + b a: a = softmax(cos(g, prototype) / temperature), b = (frequency / largest)^(1 / flatness).

    A prototype is the mean of the last `length` embeddings of labeled images of a class, and b that of the dominant
    class of p, by how often classes were pseudo-labels (q) in the last whole period of `every` steps. With
    `counts="soft"` b is the mean by p, and q is counted by its probabilities, so that nothing jumps at ties. Nothing is
    blended before the first period has passed and every class has a prototype.
    """

    def __init__(
        self,
        num_classes: int,
        width: int,
        batch_size: int,
        length: int = 256,
        temperature: float = 0.05,
        flatness: float = 1.5,
        every: int = 100,
        counts: str = "hard",
        head: str = "projection",
    ) -> None:
        super().__init__()
        name = "refine.prototypes"
        scales = f"temperature={temperature}, flatness={flatness}"
        require(temperature > 0 and flatness > 0, f"{name}: {scales} must be positive.")
        require(every >= 1, f"{name}.every={every} must be a positive number of steps.")
        require(length >= batch_size, f"{name}.length={length} must be at least batch_size={batch_size}.")
        require(counts in ("hard", "soft"), f"{name}.counts={counts} must be hard, or soft (continuous).")
        self.temperature, self.flatness, self.every = temperature, flatness, every
        self.soft, self.head = counts == "soft", head
        self.needs = frozenset({head})
        self.embeddings: Tensor  # (C, length, d), 0 where there is none yet
        self.taken: Tensor  # (C,) how many there have been
        self.count: Tensor  # (C,) pseudo-labels of this period
        self.frequency: Tensor  # (C,) of the last one
        self.num_steps: Tensor
        self.register_buffer("embeddings", torch.zeros(num_classes, length, width))
        self.register_buffer("taken", torch.zeros(num_classes, dtype=torch.long))
        self.register_buffer("count", torch.zeros(num_classes))
        self.register_buffer("frequency", torch.zeros(num_classes))
        self.register_buffer("num_steps", torch.zeros((), dtype=torch.long))

    @property
    def is_ready(self) -> Tensor:
        return (self.num_steps >= self.every) & (self.taken > 0).all()

    def nearness(self, embeddings: Tensor) -> Tensor:
        """(n, d) -> logits (n, C)."""
        prototypes = normalize(self.embeddings.sum(dim=1), dim=1)  # the cosine does not ask for how many it is the sum
        return similarity(normalize(embeddings.float(), dim=1), prototypes, self.temperature)

    def refine(self, probabilities: Tensor, outputs: Outputs | None, image: Tensor | None) -> Tensor:
        if outputs is None:
            return probabilities
        near = self.nearness(outputs["weak"].heads[self.head].detach()).softmax(dim=1)
        blend = (self.frequency / self.frequency.max().clamp(min=1e-12)) ** (1 / self.flatness)
        share = (probabilities @ blend if self.soft else blend[probabilities.argmax(dim=1)]).unsqueeze(1)
        return torch.where(self.is_ready, torch.lerp(probabilities, near, share), probabilities)

    def observe(self, probabilities: Tensor, outputs: Outputs, batch: Batch) -> None:
        refined = self.refine(probabilities, outputs, batch.image)
        counted = refined if self.soft else one_hot(refined.argmax(dim=1), refined.shape[1])
        self.count.add_(of_all_ranks(counted).sum(dim=0))
        self.num_steps.add_(1)
        is_over = self.num_steps % self.every == 0
        self.frequency.copy_(torch.where(is_over, self.count / self.count.sum(), self.frequency))
        self.count.copy_(torch.where(is_over, 0, self.count))
        self.take(of_all_ranks(outputs["labeled"].heads[self.head].detach()), of_all_ranks(batch.label))

    def take(self, embeddings: Tensor, label: Tensor) -> None:
        """(B, d) and (B,), in place of the oldest of their classes."""
        number, length, width = self.embeddings.shape
        members = one_hot(label, number, torch.long)
        before = (members.cumsum(dim=0) - members).gather(1, label.unsqueeze(1)).squeeze(1)  # in this step
        place = label * length + (self.taken[label] + before) % length
        self.embeddings.view(-1, width).index_copy_(0, place, embeddings.to(self.embeddings.dtype))
        self.taken.add_(members.sum(dim=0))

    def obstacles(self) -> list[Obstacle]:
        why, way_out = "refine.prototypes.counts=hard blends by the dominant class", "refine.prototypes.counts=soft"
        return [] if self.soft else [Obstacle(why, way_out, (way_out,))]
