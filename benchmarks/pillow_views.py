"""The reference: views=torchssl the usual way, one Pillow image after the other, to measure the batched views by.

Decides from the same uniform numbers as `smoothpl.data.views`, in the same order, so that pictures can be compared.
"""

from collections.abc import Callable, Sequence

from PIL import Image, ImageDraw, ImageEnhance, ImageOps
from torch import Tensor
from torchvision.transforms import functional

MEAN, STD = [0.4914, 0.4824, 0.4467], [0.2471, 0.2435, 0.2616]


def move(picture: Image.Image, *matrix: float) -> Image.Image:
    return picture.transform(picture.size, Image.Transform.AFFINE, matrix)


OPERATIONS: dict[str, Callable[[Image.Image, float], Image.Image]] = {
    "autocontrast": lambda picture, _: ImageOps.autocontrast(picture),
    "brightness": lambda picture, value: ImageEnhance.Brightness(picture).enhance(value),
    "color": lambda picture, value: ImageEnhance.Color(picture).enhance(value),
    "contrast": lambda picture, value: ImageEnhance.Contrast(picture).enhance(value),
    "equalize": lambda picture, _: ImageOps.equalize(picture),
    "identity": lambda picture, _: picture,
    "posterize": lambda picture, value: ImageOps.posterize(picture, int(value)),
    "rotate": lambda picture, value: picture.rotate(value),
    "sharpness": lambda picture, value: ImageEnhance.Sharpness(picture).enhance(value),
    "shear_x": lambda picture, value: move(picture, 1, value, 0, 0, 1, 0),
    "shear_y": lambda picture, value: move(picture, 1, 0, 0, value, 1, 0),
    "solarize": ImageOps.solarize,  # type: ignore[dict-item]  # any number will do
    "translate_x": lambda picture, value: move(picture, 1, 0, value * picture.size[0], 0, 1, 0),
    "translate_y": lambda picture, value: move(picture, 1, 0, 0, 0, 1, value * picture.size[1]),
}
RANGES = {
    **dict.fromkeys(("brightness", "color", "contrast", "sharpness"), (0.05, 0.95)),
    **dict.fromkeys(("shear_x", "shear_y", "translate_x", "translate_y"), (-0.3, 0.3)),
    **{"posterize": (4, 8), "rotate": (-30, 30), "solarize": (0, 256)},
}


def weak(picture: Image.Image, draws: Sequence[float]) -> Tensor:
    return normalise(flip_crop(picture, draws))


def strong(picture: Image.Image, draws: Sequence[float]) -> Tensor:
    return normalise(flip_crop(cutout(randaugment(picture, draws[:6]), draws[6:9]), draws[9:]))


def randaugment(picture: Image.Image, draws: Sequence[float]) -> Image.Image:
    names = list(OPERATIONS)
    for which, amount in zip(draws[:3], draws[3:], strict=True):
        name = names[int(which * len(names))]
        low, high = RANGES.get(name, (0, 0))
        picture = OPERATIONS[name](picture, low + (high - low) * amount)
    return picture


def cutout(picture: Image.Image, draws: Sequence[float]) -> Image.Image:
    width, height = picture.size
    side = 0.5 * draws[0] * width
    if side <= 0:
        return picture
    left = int(max(0, width + (1 - width) * draws[1] - side / 2))
    top = int(max(0, height + (1 - height) * draws[2] - side / 2))
    picture = picture.copy()
    box = (left, top, min(width, left + side), min(height, top + side))
    ImageDraw.Draw(picture).rectangle(box, (125, 123, 114))
    return picture


def flip_crop(picture: Image.Image, draws: Sequence[float]) -> Image.Image:
    if draws[0] < 0.5:
        picture = functional.hflip(picture)
    width, height = picture.size
    padded = functional.pad(picture, [4], padding_mode="reflect")
    cut: Image.Image = functional.crop(padded, int(draws[1] * 9), int(draws[2] * 9), height, width)
    return cut


def normalise(picture: Image.Image) -> Tensor:
    pixels: Tensor = functional.normalize(functional.to_tensor(picture), MEAN, STD)
    return pixels
