"""A classifier that forgets half of what it sees, of every image another half, by seeds of the loader (DST)."""

from collections.abc import Mapping

from torch import Tensor, nn
from torch.nn.functional import relu

from smoothpl.errors import ConfigError
from smoothpl.nets.method_heads import initialise
from smoothpl.nets.noise import uniform
from smoothpl.nets.output import Output
from smoothpl.nets.with_heads import Deferred, WithHeads

SEEDS = "dropout"


class WithDropout(Deferred):
    """D - 2 D - C, with dropout between. It is asked about views of unlabeled images only, which have seeds."""

    needs = frozenset({SEEDS})

    def __init__(self, dim: int, num_classes: int, dropout: float = 0.5, times: int = 2) -> None:
        super().__init__()
        if not 0 <= dropout < 1:
            raise ConfigError(f"extra_heads.pseudo.head.dropout={dropout} must lie in [0, 1); 0.5 is published.")
        self.dropout = dropout
        self.widen, self.classify = nn.Linear(dim, times * dim), nn.Linear(times * dim, num_classes)
        initialise(self)

    def forward(self, features: Tensor, seeds: Tensor) -> Tensor:
        """features (U, D), seeds (U,) -> (U, C)."""
        seen = relu(self.widen(features))
        kept = uniform(seeds, seen.shape[1]) >= self.dropout
        logits: Tensor = self.classify(seen * kept / (1 - self.dropout))
        return logits


def ask(network: nn.Module, name: str, output: Output, chance: Mapping[str, Tensor]) -> Tensor:
    """What a head says of a view of the unlabeled images -> (U, C)."""
    if name in output.heads:
        return output.heads[name]
    assert isinstance(network, WithHeads)
    assert output.features is not None
    logits: Tensor = network.heads[name](output.features, chance[SEEDS])
    return logits
