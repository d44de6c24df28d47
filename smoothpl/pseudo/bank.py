"""Bank: what was believed of the images of the last steps, by which similar ones are corrected (CoMatch)."""

from typing import final

import torch
from torch import Tensor, nn

from smoothpl.data.batch import Batch
from smoothpl.errors import ConfigError
from smoothpl.pseudo.labels import one_hot
from smoothpl.pseudo.refinement import Outputs, Refinement
from smoothpl.pseudo.similarity import similarity
from smoothpl.ranks import of_all_ranks


@final
class Bank(nn.Module):
    """The last `rows` embeddings (rows, d), and what belongs to each (rows, C). It begins empty."""

    def __init__(self, rows: int, width: int, num_classes: int) -> None:
        super().__init__()
        self.embeddings: Tensor
        self.beliefs: Tensor
        self.place: Tensor  # of the next row
        self.filled: Tensor
        self.register_buffer("embeddings", torch.zeros(rows, width))
        self.register_buffer("beliefs", torch.zeros(rows, num_classes))
        self.register_buffer("place", torch.zeros((), dtype=torch.long))
        self.register_buffer("filled", torch.zeros((), dtype=torch.long))

    @property
    def is_full(self) -> Tensor:
        return self.filled >= len(self.embeddings)

    def take(self, embeddings: Tensor, beliefs: Tensor) -> None:
        """(n, d) and (n, C), in place of the oldest n <= rows."""
        size = len(self.embeddings)
        rows = (self.place + torch.arange(len(embeddings), device=embeddings.device)) % size
        self.embeddings.index_copy_(0, rows, embeddings.to(self.embeddings.dtype))
        self.beliefs.index_copy_(0, rows, beliefs.to(self.beliefs.dtype))
        self.place.copy_((self.place + len(embeddings)) % size)
        self.filled.copy_((self.filled + len(embeddings)).clamp(max=size))


@final
class BankSmoothing(Refinement):
    """q = keep p + (1 - keep) a, where a is what the bank believes of images by their similarity to this one.

    Embeddings are those of the weak view. What is remembered is p, not q, and the labels of labeled images; nothing is
    corrected until the last `batches` steps are known.
    """

    def __init__(
        self,
        num_classes: int,
        width: int,
        batch_size: int,
        unlabeled_ratio: int,
        batches: int = 5,
        keep: float = 0.9,
        temperature: float = 0.2,
        head: str = "projection",
    ) -> None:
        super().__init__()
        if not 0 <= keep <= 1:
            raise ConfigError(f"refine.bank.keep={keep} must lie in [0, 1]: the share of an image's own probabilities.")
        if batches < 1:
            raise ConfigError(f"refine.bank.batches={batches} must be positive; CoMatch remembers 5.")
        self.bank = Bank(batches * batch_size * (1 + unlabeled_ratio), width, num_classes)
        self.keep, self.temperature, self.head = keep, temperature, head
        self.needs = frozenset({head})

    def refine(self, probabilities: Tensor, outputs: Outputs | None, image: Tensor | None) -> Tensor:
        if outputs is None:
            return probabilities
        own = outputs["weak"].heads[self.head].detach()
        nearness = similarity(own, self.bank.embeddings, self.temperature).softmax(dim=1)
        smoothed = self.keep * probabilities + (1 - self.keep) * similarity(nearness, self.bank.beliefs.T)
        return torch.where(self.bank.is_full, smoothed, probabilities)

    def observe(self, probabilities: Tensor, outputs: Outputs, batch: Batch) -> None:
        for view, beliefs in (
            ("weak", probabilities),
            ("labeled", one_hot(batch.label, probabilities.shape[1])),
        ):
            embeddings = outputs[view].heads[self.head].detach()
            self.bank.take(of_all_ranks(embeddings), of_all_ranks(beliefs))
