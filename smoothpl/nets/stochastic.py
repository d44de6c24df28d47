"""A last layer that is drawn anew in every step: weights M + S eps, one eps for the whole batch (STOCO)."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from smoothpl.errors import ConfigError
from smoothpl.nets.heads import Head
from smoothpl.nets.noise import normal
from smoothpl.nets.output import Output
from smoothpl.nets.with_heads import Deferred, WithHeads

SEED = "heads"


class Stochastic(Deferred):
    """S, the deviations of the network's last layer, whose own weights are M: whoever uses the network has M alone."""

    needs = frozenset({SEED})

    def __init__(self, dim: int, num_classes: int, deviation: float = 0.02) -> None:
        super().__init__()
        if not deviation >= 0:
            raise ConfigError(f"extra_heads.stochastic.head.deviation={deviation} must be a number from 0 up.")
        self.deviation = nn.Parameter(torch.full((num_classes, dim), float(deviation)))

    def forward(self, features: Tensor, seed: Tensor, draw: int = 0) -> Tensor:
        """features (n, D), seed (1,) -> (n, C) by which logits of M differ, in float32 whatever the precision."""
        with torch.autocast(features.device.type, enabled=False):
            return features.float() @ (self.deviation * normal(seed, self.deviation.shape, draw)).T


def disturbed(network: nn.Module, outputs: dict[str, Output], chance: Mapping[str, Tensor]) -> dict[str, Output]:
    """Logits of the first draw take the place of those of M, which stay among the heads."""
    if not isinstance(network, WithHeads):
        return outputs
    for name in (name for name, head in network.heads.items() if isinstance(head, Stochastic)):
        kept = {view: each._replace(heads={**each.heads, name: each.logits}) for view, each in outputs.items()}
        outputs = {
            view: each._replace(logits=drawn(network, name, each, chance[SEED], 0)) for view, each in kept.items()
        }
    return outputs


def drawn(network: nn.Module, name: str, output: Output, seed: Tensor, draw: int) -> Tensor:
    """-> (n, C) logits of one draw of the last layer."""
    assert isinstance(network, WithHeads)
    assert output.features is not None
    noise: Tensor = network.heads[name](output.features, seed, draw)
    # What a head on frozen features is multiplied with is divided by a temperature, M as S.
    return output.heads[name] + (noise / network.base.loss_temperature if isinstance(network.base, Head) else noise)
