"""A trained run as a classifier: images in, classes out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from smoothpl.data.frames import CentralCrop
from smoothpl.errors import ConfigError
from smoothpl.inference.engines import TORCH, OnnxRuntime, Source, check_engine, engine_of
from smoothpl.inference.image_size import image_side
from smoothpl.inference.joined import CHUNK, Joined
from smoothpl.inference.parts import Parts, read_parts
from smoothpl.inference.preprocessing import Image, Preparation, several
from smoothpl.io.memory import machine_memory, spelled
from smoothpl.layout import RECORD
from smoothpl.record.record import Record
from smoothpl.record.trained import directory_of


class Predictions(NamedTuple):
    """labels (B names of classes), confidence (B,), probabilities (B, C)."""

    labels: list[str]
    confidence: Tensor
    probabilities: Tensor


class Classifier(nn.Module):
    """The averaged network of a run, with the preprocessing of its images."""

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
        self.faster: OnnxRuntime | None = None
        self.eval().requires_grad_(False)

    def forward(self, pixels: Tensor) -> Tensor:
        """pixels (B, channels, size, size), 0 to 255 -> probabilities (B, C)."""
        logits: Tensor = self.network(self.scaled(pixels))
        return logits.softmax(dim=-1)

    def scaled(self, pixels: Tensor) -> Tensor:
        """pixels as in `forward` -> what the network sees."""
        return pixels.to(torch.float32, memory_format=torch.channels_last, copy=True).sub_(self.mean).div_(self.std)

    def use(self, engine: str, num_images: int = 0) -> None:
        """Has `predict` compute by torch, onnxruntime, or, with auto, by what is faster for so many images."""
        check_engine(engine)
        if isinstance(self.network, Joined):
            self.network.use(engine)
        else:
            size = self.prepare.frame.size
            self.faster = engine_of(Source(self.network, (self.prepare.channels, size, size)), engine, num_images)

    @property
    def engine(self) -> str:
        """What `predict` computes by; the faster one is for CPUs."""
        if isinstance(self.network, Joined):
            return " and ".join(sorted({each.name for each in self.network.engines}))
        return self.faster.name if self.faster is not None and self.mean.device.type == "cpu" else TORCH

    def __getstate__(self) -> dict[str, Any]:
        """A copy, also in another process, computes by torch."""
        return {**self.__dict__, "faster": None}

    def predict(self, images: Image | Sequence[Image]) -> Predictions:
        """Takes paths, Pillow images, arrays (height, width[, channels]) or tensors (channels, height, width).

        Of any size; 0 to 255 in bytes, 0 to 1 in floats. One image, several, or a batch in one tensor or array.
        """
        prepared = [self.prepare(image) for image in several(images)]
        size = self.prepare.frame.size
        return self.predict_pixels(
            torch.stack(prepared) if prepared else torch.empty(0, self.prepare.channels, size, size)
        )

    @torch.inference_mode()
    def predict_pixels(self, pixels: Tensor) -> Predictions:
        """Takes preprocessed images (B, channels, size, size); the result of one does not depend on the others."""
        found = [torch.empty(0, len(self.class_names))]
        for some in torch.split(pixels, CHUNK) if len(pixels) else ():
            missing = CHUNK - len(some)
            filled = torch.cat([some, some.new_zeros(missing, *some.shape[1:])]) if missing else some
            found.append(self.evaluated(filled.to(self.mean.device))[: len(some)].cpu())
        return self.decided(torch.cat(found))

    def evaluated(self, pixels: Tensor) -> Tensor:
        """pixels (B, channels, size, size) uint8 -> probabilities (B, C), as in the evaluation of the run."""
        if isinstance(self.network, Joined):
            return self.network.evaluated(pixels).softmax(dim=-1)
        if self.faster is not None and self.mean.device.type == "cpu":
            return self.faster(self.scaled(pixels)).softmax(dim=-1)
        probabilities: Tensor = self(pixels)
        return probabilities

    def decided(self, probabilities: Tensor) -> Predictions:
        confidence, best = probabilities.max(dim=-1)
        return Predictions([self.class_names[c] for c in best.tolist()], confidence, probabilities)


def load(run: str | Path, trust: bool = False) -> Classifier:
    """Loads the trained classifier of a run from its directory, which holds run.json and last.ckpt.

    `trust`: allow a network that is not smoothpl's own code, if the record names one.
    """
    return classifier_of(read_parts(directory_of(run), trust))


def classifier_of(parts: Parts) -> Classifier:
    frame, mean, std = preparation(parts.record, parts.run_dir)
    network = parts.network
    if parts.backbones:  # which scale pixels themselves
        as_stored = not parts.is_finetuned
        network = Joined(parts.encoders, network, frame.size, parts.engine, as_stored)
        mean, std = [0.0] * len(mean), [1 / 255] * len(mean)
    return Classifier(network, parts.record.class_names, frame, mean, std)


def preparation(record: Record, run_dir: Path) -> tuple[CentralCrop, list[float], list[float]]:
    """What is done to images, and by which mean and deviation they are scaled."""
    side, memory = image_side(record, run_dir), machine_memory()
    try:
        frame = CentralCrop(side, share=(record.config["views"].get("test_frame") or {"share": 1.0})["share"])
        mean, std = ([float(each) for each in record.config["data"][name]] for name in ("mean", "std"))
        if not mean or len(mean) != len(std) or min(std) <= 0:
            raise ValueError(f"mean={mean[:4]}, std={std[:4]}")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ConfigError(
            f"run={run_dir}: {RECORD} is damaged ({error}); copy it again from where it was made."
        ) from error
    needed = CHUNK * len(mean) * side**2 * 4  # bytes of a number
    if memory is not None and needed > memory:
        raise ConfigError(
            f"run={run_dir}: {CHUNK} images of {side} x {side} pixels take {spelled(needed)}, and this machine has "
            f"{spelled(memory)} of memory."
        )
    return frame, mean, std
