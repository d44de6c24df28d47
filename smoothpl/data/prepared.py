"""Views for a network that is finetuned: brought to the size and scale of its backbone, as where features are made."""

from copy import deepcopy
from dataclasses import dataclass, fields

from torch import Tensor, nn

from smoothpl.backbones.encoder import Encoder
from smoothpl.data.views import Views


@dataclass(frozen=True, kw_only=True)
class PreparedViews(Views):
    """The same views of images; only what is done to their pixels afterwards is the backbone's."""

    preparation: Encoder  # without its network: processes that read images get a copy

    def normalise(self, pixels: Tensor) -> Tensor:
        return self.preparation.to(pixels.device).prepare(pixels)


def prepared(views: Views, encoder: Encoder) -> PreparedViews:
    own = {each.name: getattr(views, each.name) for each in fields(Views)}
    own |= {"mean": encoder.mean, "std": encoder.std}  # the way back, for people
    return PreparedViews(**own, preparation=deepcopy(encoder, {id(encoder.network): nn.Identity()}))
