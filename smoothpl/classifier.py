"""A trained run, to be used: images in, classes out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Union

import numpy as np
import torch
from omegaconf import DictConfig, OmegaConf
from PIL import Image as Pillow
from torch import Tensor, nn

import smoothpl.nets
from smoothpl.build import build_network
from smoothpl.data.frames import CentralCrop
from smoothpl.data.pictures import decode_safely, from_pillow
from smoothpl.errors import ConfigError
from smoothpl.jobs import side_of
from smoothpl.layout import LAST_CHECKPOINT, RECORD
from smoothpl.record.record import Record, read

Image = Union[str, Path, Pillow.Image, "np.ndarray[Any, Any]", Tensor]
CHUNK = 64
"""Images that the network sees at a time, always: another number of them could change the last bits of a result."""
NETWORKS = tuple(f"smoothpl.nets.{name}" for name in smoothpl.nets.__all__)
"""What is built without asking: a record may come from a stranger, and names what is called."""


class Predictions(NamedTuple):
    """labels, names of classes; confidence (B,); probabilities (B, C)."""

    labels: list[str]
    confidence: Tensor
    probabilities: Tensor


class Preparation(NamedTuple):
    """What is done to an image before the network sees it; apart from the network, for processes that only decode."""

    frame: CentralCrop
    channels: int

    def __call__(self, image: Image) -> Tensor:
        """-> (channels, size, size) uint8: the middle of the image, as test images were seen."""
        picture = self.frame(as_picture(image), torch.empty(0))
        return shade(picture).byte() if self.channels == 1 else picture


class Classifier(nn.Module):
    """The averaged network of a run, with all that has to be done to an image before."""

    def __init__(
        self,
        network: nn.Module,
        class_names: Sequence[str],
        frame: CentralCrop,
        mean: Sequence[float],
        std: Sequence[float],
    ) -> None:
        super().__init__()
        self.network = network
        self.class_names = tuple(class_names)
        self.prepare = Preparation(frame, channels=len(mean))
        self.mean: Tensor
        self.std: Tensor
        self.register_buffer("mean", 255 * torch.tensor(mean).view(-1, 1, 1))
        self.register_buffer("std", 255 * torch.tensor(std).view(-1, 1, 1))
        self.eval().requires_grad_(False)

    def forward(self, pixels: Tensor) -> Tensor:
        """pixels (B, channels, size, size), 0 to 255 -> probabilities (B, C). What is exported."""
        scaled = pixels.to(torch.float32, memory_format=torch.channels_last, copy=True).sub_(self.mean).div_(self.std)
        logits: Tensor = self.network(scaled)
        return logits.softmax(dim=-1)

    def predict(self, images: Image | Sequence[Image]) -> Predictions:
        """Paths, Pillow's images, arrays (height, width[, channels]) or tensors (channels, height, width) of any size.

        Numbers are 0 to 255 in bytes, 0 to 1 in floats. One image, several, or a batch of them in one tensor or array.
        """
        prepared = [self.prepare(image) for image in several(images)]
        size = self.prepare.frame.size
        return self.of_pixels(torch.stack(prepared) if prepared else torch.empty(0, self.prepare.channels, size, size))

    @torch.inference_mode()
    def of_pixels(self, pixels: Tensor) -> Predictions:
        """Of images that are prepared, (B, channels, size, size); the same for each, whatever others there are."""
        found = [torch.empty(0, len(self.class_names))]
        for some in torch.split(pixels, CHUNK) if len(pixels) else ():
            missing = CHUNK - len(some)
            filled = torch.cat([some, some.new_zeros(missing, *some.shape[1:])]) if missing else some
            found.append(self(filled.to(self.mean.device))[: len(some)].cpu())
        probabilities = torch.cat(found)
        confidence, best = probabilities.max(dim=-1)
        return Predictions([self.class_names[c] for c in best.tolist()], confidence, probabilities)


def load(run: str | Path, trust: bool = False) -> Classifier:
    """The classifier that a run has made: its directory, with run.json and last.ckpt.

    `trust`: build a network of somebody's own code, if that is what the record names.
    """
    run_dir = Path(run)
    record = trained(run_dir)
    config = OmegaConf.create(record.config)
    assert isinstance(config, DictConfig)
    net = OmegaConf.create(OmegaConf.to_container(config.net, resolve=True))
    assert isinstance(net, DictConfig)
    check_trusted(net, run_dir, trust)
    network = build_network(net, begins=False)
    try:
        state = torch.load(run_dir / LAST_CHECKPOINT, weights_only=True, map_location="cpu")["state_dict"]
        prefix = "average."
        network.load_state_dict({key.removeprefix(prefix): state[key] for key in state if key.startswith(prefix)})
    except Exception as error:  # pickle has many ways to fail, and all mean the same
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ConfigError(
            f"run={run_dir}: {LAST_CHECKPOINT} is damaged, or of another network than {RECORD} says ({reason}); copy "
            "both again from where the run was made."
        ) from error
    frame = config.views.get("test_frame")
    return Classifier(
        network,
        record.class_names,
        CentralCrop(side_of(config), share=frame.share if frame else 1.0),
        list(config.data.mean),
        list(config.data.std),
    )


def trained(run_dir: Path) -> Record:
    if not (run_dir / RECORD).is_file():
        raise ConfigError(f"run={run_dir} holds no run: it has no {RECORD}; name the directory of a run.")
    record = read(run_dir)
    if not (run_dir / LAST_CHECKPOINT).is_file():
        raise ConfigError(
            f"run={run_dir} is {record.status} and has no {LAST_CHECKPOINT}: only a finished run can be used; continue "
            f"it: python -m smoothpl.train resume={run_dir}."
        )
    return record


def check_trusted(net: DictConfig, run_dir: Path, trust: bool) -> None:
    target = net.get("_target_")
    if not trust and (target not in NETWORKS or any(OmegaConf.is_config(value) for value in net.values())):
        raise ConfigError(
            f"run={run_dir} would call {target}, or something within it, which is none of smoothpl's own networks; if "
            "you trust where it comes from, say trust=true."
        )


def shade(colours: Tensor) -> Tensor:
    """(..., 3, height, width) -> (..., 1, height, width): grey as Pillow makes it, rounded; torchvision's cuts off, and
    grey would not stay what it is."""
    red, green, blue = colours.float().unbind(dim=-3)
    found: Tensor = (0.299 * red + 0.587 * green + 0.114 * blue).round()
    return found.unsqueeze(-3)


def several(images: Image | Sequence[Image]) -> Sequence[Image]:
    batched = 4
    if isinstance(images, str | Path | Pillow.Image):
        return [images]
    if isinstance(images, np.ndarray | Tensor):
        return list(images) if images.ndim == batched else [images]
    return images


def as_picture(image: Image) -> Tensor:
    """-> (3, height, width) uint8."""
    if isinstance(image, str | Path):
        return decode_safely(Path(image))
    if isinstance(image, Pillow.Image):
        return from_pillow(image)
    if isinstance(image, np.ndarray):
        image = torch.from_numpy(np.ascontiguousarray(image if image.ndim == 3 else image[..., None])).permute(2, 0, 1)
    if image.ndim != 3 or len(image) not in (1, 3, 4):
        raise ValueError(
            f"an image must be (channels, height, width) in a tensor, (height, width[, channels]) in an array, with 1, "
            f"3 or 4 channels; this one is {tuple(image.shape)}."
        )
    if image.is_floating_point():
        image = (255 * image).round().clamp(0, 255).byte()
    if image.dtype != torch.uint8:
        raise ValueError(f"an image must be of bytes, 0 to 255, or of floats, 0 to 1; this one is of {image.dtype}.")
    image = image.cpu()
    return image.expand(3, -1, -1) if len(image) == 1 else image[:3]
