"""A file of ONNX as a backbone: any encoder, whatever library it was trained with."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from smoothpl.backbones.encoder import Encoder, Preprocessing, digest_of_files
from smoothpl.backbones.onnx_session import open_session, runner
from smoothpl.errors import ConfigError, require

SIZE = 224
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Of ImageNet, as most encoders have them: a file does not say."""
BESIDE = (".data", "_data")
"""What is added to the name of a large network for the file that holds its weights."""


def of_onnx(
    path: str | None,
    size: int | None = None,
    crop: float | None = None,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
    output: str | None = None,
) -> Encoder:
    """`size`: that of the file, if it is for one only; `output`: the one that holds vectors, where it has several."""
    if path is None:
        raise ConfigError("backbone.path=null must be a file of ONNX: backbone.path=encoder.onnx.")
    place = Path(path).expanduser()
    if not place.is_file():
        raise ConfigError(f"backbone.path={path} is not there; name a file of ONNX.")
    network = OnnxFile(place, output)
    preprocessing = Preprocessing(network.size or SIZE, 1.0, MEAN, STD)
    preprocessing = preprocessing.but(size=size, crop=crop, mean=mean, std=std)
    if network.size not in (None, preprocessing.size):
        raise ConfigError(f"backbone.size={size} must be {network.size}, the only size that {place.name} is for.")
    architecture = f"onnx {network.output} {digest_of_files(parts_of(place))}"
    return Encoder(network, place.stem, architecture, *preprocessing)


def parts_of(place: Path) -> list[Path]:
    beside = [place.with_name(place.name + end) for end in BESIDE]
    return [place, *(each for each in beside if each.is_file())]


class OnnxFile(nn.Module):
    """Opened when it is needed, in every process anew: a session cannot be copied."""

    def __init__(self, place: Path, output: str | None) -> None:
        super().__init__()
        self.place = place
        self.opened: Callable[[Tensor], Tensor] | None = None
        session = self.session()
        pixels = session.get_inputs()
        if len(pixels) != 1 or pixels[0].type != "tensor(float)" or not is_image(pixels[0].shape):
            given = ", ".join(f"{each.name} {each.type} {each.shape}" for each in pixels)
            raise ConfigError(
                f"backbone.path={place} must have one input, images (batch, 3, height, width) of float32; it has "
                f"{given}: export it so."
            )
        sides = [side for side in pixels[0].shape[2:] if isinstance(side, int)]
        self.size = sides[0] if sides else None
        self.output = chosen(session.get_outputs(), output, place)

    def forward(self, pixels: Tensor) -> Tensor:
        return self.run(pixels)

    def run(self, pixels: Tensor) -> Tensor:
        """Scaled pixels (B, 3, size, size) -> vectors (B, dim)."""
        if self.opened is None:
            self.opened = runner(self.session(), self.output)
        try:
            return self.opened(pixels)
        except Exception as error:  # classes of its own, which nobody else knows
            raise RuntimeError(str(error)) from error

    def session(self) -> Any:
        try:
            return open_session(str(self.place))
        except ConfigError:
            raise
        except Exception as error:  # a class of its own for every kind of damage
            reason = str(error).splitlines()[0].rstrip(".")
            raise ConfigError(
                f"backbone.path={self.place} is not a network that ONNX Runtime can open ({reason}); export it "
                "again, or name another file."
            ) from error

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "opened": None}


def is_image(dims: Sequence[Any]) -> bool:
    return len(dims) == 4 and (dims[1] == 3 or not isinstance(dims[1], int))


def chosen(outputs: Sequence[Any], name: str | None, place: Path) -> str:
    """The output that holds vectors: the one that is named, else the first of two dims, or of a map of one pixel."""
    names = [each.name for each in outputs]
    if name is not None:
        require(name in names, f"output={name} is not an output of {place}; it has {', '.join(names)}.")
        return name
    suitable = [each.name for each in outputs if len(each.shape) == 2 or list(each.shape[2:]) == [1, 1]]
    return str((suitable or names)[0])
