"""Mix: images, and what they are taught, as weighted means of two of them (MixUp, as MixMatch uses it).

Weights and partners do not depend on predictions: chance has decided them in the loader.
"""

from collections.abc import Mapping, Sequence

import torch
from scipy.special import betaincinv
from torch import Tensor, nn

from smoothpl.data.batch import Batch
from smoothpl.errors import ConfigError
from smoothpl.ranks import num_ranks, of_all_ranks, own_share

MIXED = "mixed_"
GRID = 4096
"""Points at which the distribution of the weights is known; between them it is a straight line."""


class Mix(nn.Module):
    """X' = m X + (1 - m) X_partner, with m ~ Beta(alpha, alpha), never below 1/2: an image stays most of itself.

    `of` names the views that are put together, the labeled images first; those in `watched` teach, and nothing is
    learned from them as they are. `per="image"` draws a weight for each image (google/mixmatch), `"batch"` one for all
    of a step (TorchSSL, USB).
    """

    def __init__(self, of: Sequence[str], watched: Sequence[str] = (), alpha: float = 0.75, per: str = "image") -> None:
        super().__init__()
        if not of or len(of) > 3:
            raise ConfigError(f"mix.of={[*of]} must name one to three views, for example [labeled, weak, weak2].")
        if not alpha > 0:
            raise ConfigError(f"mix.alpha={alpha} must be positive; 0.75 is usual.")
        if per not in ("image", "batch"):
            raise ConfigError(f"mix.per={per} must be image or batch.")
        self.of = of
        self.watched = watched
        self.needs = frozenset(of) - {"labeled", "weak", "strong"} | {"mix"}
        self.per_image = per == "image"
        # A quantile of Beta(alpha, alpha), cut at 1/2 from below: the larger one of m and 1 - m.
        places = torch.linspace(0.5, 1, GRID, dtype=torch.float64).numpy()
        quantile = torch.from_numpy(betaincinv(alpha, alpha, places)).float()
        self.quantile: Tensor
        self.register_buffer("quantile", quantile, persistent=False)  # on the device: a copy would wait for it

    def weights(self, batch: Batch, number: int) -> tuple[Tensor, Tensor]:
        """-> of `number` inputs the weight m (number,) and the partner (number,)."""
        weight, order = batch.chance["mix"].unbind(0)
        place = (weight[:number] if self.per_image else weight[:1].expand(number)).float() * (GRID - 1)
        low = place.long().clamp(max=GRID - 2)
        return torch.lerp(self.quantile[low], self.quantile[low + 1], place - low), order[:number].argsort()

    def together(self, batch: Batch, parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Whatever belongs to the images of each view, (n, ...) -> the same, mixed.

        A partner may be an image of another rank: all of them are put together, and each rank takes its own back.
        """
        every = [of_all_ranks(parts[name]) for name in self.of]
        sizes = [len(each) for each in every]
        whole = torch.cat(every)
        weight, partner = self.weights(batch, len(whole))
        weight = weight.to(whole.dtype).view(-1, *(1,) * (whole.ndim - 1))
        mixed = torch.split(weight * whole + (1 - weight) * whole[partner], sizes)
        return {name: own_share(each) if num_ranks() > 1 else each for name, each in zip(self.of, mixed, strict=True)}

    def images(self, batch: Batch, views: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {f"{MIXED}{name}": each for name, each in self.together(batch, views).items()}
