"""A network with heads of a method's own on its features: projections, second classifiers.

They are part of the network, so that the optimiser, the average, checkpoints and ranks take care of them. Whoever uses
the trained network gets it without them.
"""

from collections.abc import Callable, Mapping, Sequence

from torch import Tensor, nn

from smoothpl.errors import ConfigError
from smoothpl.nets.heads import Head, LinearHead
from smoothpl.nets.last_map import length_of_map, overheard, pooling
from smoothpl.nets.output import Output

BASE, HEADS = "base.", "heads."
MakeHead = Callable[..., nn.Module]
"""From the length of the features and the number of classes."""


class Deferred(nn.Module):
    """A head that is not asked about the features of a batch as they are: it needs chance (`needs`), or a term that
    asks it."""

    needs: frozenset[str] = frozenset()


class WithHeads(nn.Module):
    """`judged` names the head whose logits are predictions; None: those of the network itself.

    `dims`: of an image, where a head sees the last map (`sees_map`).
    """

    def __init__(
        self,
        base: nn.Module,
        heads: Mapping[str, MakeHead],
        num_classes: int,
        judged: str | None = None,
        dims: Sequence[int] = (),
    ) -> None:
        super().__init__()
        self.base = base
        dim = length_of_features(base)
        made = {name: make_head(make, base, dim, num_classes, dims) for name, make in heads.items()}
        self.heads = nn.ModuleDict(made)
        self.sees_map = any(map(sees_map, made.values()))
        if judged is not None and judged not in self.heads:
            raise ConfigError(f"the judged head {judged} is not among extra_heads={[*heads]}; name one of them.")
        if judged is not None and isinstance(base, Head) and not isinstance(base, LinearHead):
            raise ConfigError(
                f"the judged head {judged} is linear, and would take the place of a {type(base).__name__} in the "
                "trained network; use net=linear with this method, or another method."
            )
        self.judged = judged

    def look(self, images: Tensor) -> Output:
        with overheard(pooling(self.base) if self.sees_map else None) as maps:
            logits, features = logits_and_features(self.base, images)
        last = maps[-1] if maps else features
        asked = {name: head for name, head in self.heads.items() if not isinstance(head, Deferred)}
        said = {name: self.made_by(name, last if sees_map(head) else features) for name, head in asked.items()}
        return Output(logits, features, said)

    def forward(self, images: Tensor) -> Tensor:
        if self.judged is None:
            logits: Tensor = self.base(images)
            return logits
        return self.made_by(self.judged, logits_and_features(self.base, images)[1])

    def made_by(self, name: str, features: Tensor) -> Tensor:
        """What a head makes of features; logits of the judged one are on the scale of those of the network."""
        made: Tensor = self.heads[name](features)
        return made / self.base.loss_temperature if name == self.judged and isinstance(self.base, Head) else made


def begin_alike(network: nn.Module) -> None:
    """On features a judged head begins as that of the network: without an opinion, or as a probe has found it."""
    if isinstance(network, WithHeads) and network.judged is not None and isinstance(network.base, LinearHead):
        network.heads[network.judged].load_state_dict(network.base.classify.state_dict())


def sees_map(head: object) -> bool:
    return bool(getattr(getattr(head, "func", head), "sees_map", False))


def make_head(make: MakeHead, base: nn.Module, dim: int, num_classes: int, dims: Sequence[int]) -> nn.Module:
    """dims: of an image, or nothing if they are not known before the data are opened."""
    if not sees_map(make):
        return make(dim, num_classes)
    if pooling(base) is not None and not dims:
        raise ConfigError("a head on the last map of a network needs the size of images in pixels; add +data.size=32.")
    return make(length_of_map(base, dims) or dim, num_classes, width=dim)


def base_of(network: nn.Module) -> nn.Module:
    """The network itself, without a method's heads."""
    return network.base if isinstance(network, WithHeads) else network


def last_layer(network: nn.Module) -> nn.Linear:
    """The layer that makes logits of features."""
    layers = [part for part in network.modules() if isinstance(part, nn.Linear)]
    if not layers:
        raise ConfigError(
            f"a method with heads of its own needs the features of a network, and {type(network).__name__} has no "
            "linear layer at its end; use a WideResNet or a ResNet."
        )
    return layers[-1]


def length_of_features(network: nn.Module) -> int:
    return network.dim if isinstance(network, Head) else last_layer(network).in_features


def logits_and_features(network: nn.Module, images: Tensor) -> tuple[Tensor, Tensor]:
    if isinstance(network, Head):
        return network(images), network.standardised(images)
    seen: list[Tensor] = []
    # Networks of other libraries hand out no features; what their last layer is given, are those.
    hook = last_layer(network).register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    try:
        logits: Tensor = network(images)
    finally:
        hook.remove()
    return logits, seen[-1]


def without_heads(state: Mapping[str, Tensor], judged: str | None = None) -> dict[str, Tensor]:
    """The weights of a network without a method's heads; a judged one, which is linear, replaces the last layer."""
    if not any(name.startswith(HEADS) for name in state):
        return dict(state)
    base = {name.removeprefix(BASE): value for name, value in state.items() if name.startswith(BASE)}
    if judged is None:
        return base
    *_, weight = (name for name, value in base.items() if name.endswith("weight") and value.ndim == 2)
    last = weight.removesuffix("weight")
    return base | {f"{last}{part}": state[f"{HEADS}{judged}.{part}"] for part in ("weight", "bias")}
