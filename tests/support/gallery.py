"""Pictures of all kinds on disk, for tests: what cameras, scanners and the web leave in folders."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image
from pillow_heif import register_heif_opener

register_heif_opener()
CHANCE = np.random.default_rng(0)


def noise(width: int = 40, height: int = 30) -> Image.Image:
    small = Image.fromarray(CHANCE.integers(256, size=(4, 4, 3), dtype=np.uint8))
    return small.resize((width, height))


def exif(orientation: int) -> Image.Exif:
    tags = Image.Exif()
    tags[0x0112] = orientation
    return tags


def turned(orientation: int) -> Image.Image:
    """As a phone holds it in memory, when it was held upright."""
    picture = noise()
    picture.info["exif"] = exif(orientation).tobytes()
    return picture


GOOD: dict[str, Callable[[Path], None]] = {
    "plain.jpg": lambda path: noise().save(path),
    "grey.jpg": lambda path: noise().convert("L").save(path),
    "cmyk.jpg": lambda path: noise().convert("CMYK").save(path),
    "palette.png": lambda path: noise().convert("P").save(path),
    "transparent_palette.png": lambda path: noise().convert("P").save(path, transparency=0),
    "alpha.png": lambda path: noise().convert("RGBA").save(path),
    "grey_alpha.png": lambda path: noise().convert("LA").save(path),
    "two_colours.png": lambda path: noise().convert("1").save(path),
    "deep.png": lambda path: Image.fromarray(CHANCE.integers(65536, size=(30, 40), dtype=np.uint16)).save(path),
    "deep.tiff": lambda path: Image.fromarray(CHANCE.integers(65536, size=(30, 40), dtype=np.uint16)).save(path),
    "rotated.jpg": lambda path: noise().save(path, exif=exif(6)),
    "rotated.webp": lambda path: noise().save(path, exif=exif(6)),
    "rotated.png": lambda path: noise().save(path, exif=exif(8)),
    "narrow.jpg": lambda path: noise(1, 40).save(path),
    "one_pixel.png": lambda path: noise(1, 1).save(path),
    "animation.gif": lambda path: noise().save(path, save_all=True, append_images=[noise()]),
    "modern.webp": lambda path: noise().save(path),
    "old.bmp": lambda path: noise().save(path),
    "web.avif": lambda path: noise().save(path),
    "rotated.avif": lambda path: noise().save(path, exif=exif(6)),
    "phone.heic": lambda path: noise().save(path, format="HEIF"),
    "rotated.heic": lambda path: turned(6).save(path, format="HEIF"),
    "old.jfif": lambda path: noise().save(path, format="JPEG"),
    "grey.pgm": lambda path: noise().convert("L").save(path),
    "scan.tiff": lambda path: noise().save(path),
    "really_png.JPEG": lambda path: noise().save(path, format="PNG"),
}


def half(path: Path) -> None:
    noise(400, 300).save(path)
    path.write_bytes(path.read_bytes()[:700])


def flip_a_byte(path: Path) -> None:
    """In the middle of the compressed pixels: some decoders do not survive it."""
    noise(400, 300).save(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


BAD: dict[str, Callable[[Path], object]] = {
    "flipped.png": flip_a_byte,
    "notes.txt": lambda path: path.write_text("no picture at all"),
    "empty.jpg": lambda path: path.touch(),
    "truncated.jpg": half,
    "truncated.png": half,
    "truncated.avif": half,
    "truncated.heic": half,
}


def make_gallery(folder: Path, num_classes: int = 2, per_class: int = 4) -> Path:
    """train/ and val/ with folders of classes, all plain pictures."""
    for part in ("train", "val"):
        for c in range(num_classes):
            (folder / part / f"class {c}").mkdir(parents=True)
            for number in range(per_class):
                noise(30 + number, 40).save(folder / part / f"class {c}" / f"{number}.jpg")
    return folder
