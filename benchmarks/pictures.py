"""python -m benchmarks.pictures: pictures per second of the ImageNet path, against one that only decodes and crops.

Files are mosaics of CIFAR-10 photographs (SMOOTHPL_DATA), 500 x 375 pixels, JPEG: about what ImageNet's are. The bare
loader is torchvision's way: decode, random resized crops to 224 pixels, batches by DataLoader. Both decode a picture
once and cut out as many parts as are wanted: one (Pseudo-Labeling), or two (weak and strong).
"""

import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import DataLoader, Dataset
from torchvision.io import ImageReadMode, decode_image, read_file
from torchvision.transforms import v2
from torchvision.utils import make_grid

from benchmarks.line import Line, show
from benchmarks.setting import data_folder, data_for
from smoothpl.data import RawStep, SemiSupervisedData, cifar10

NUM_FILES = 64
BATCH, STEPS, TURNS = 128, 10, 4


class Bare(Dataset[list[Tensor]]):
    def __init__(self, paths: list[Path], parts: int) -> None:
        self.paths = paths
        self.parts = parts
        self.crop = v2.RandomResizedCrop(224, scale=(0.2, 1.0), antialias=True)

    def __len__(self) -> int:
        return BATCH * STEPS

    def __getitem__(self, number: int) -> list[Tensor]:
        picture = decode_image(read_file(str(self.paths[number % len(self.paths)])), ImageReadMode.RGB)
        return [self.crop(picture) for _ in range(self.parts)]


def lines() -> Iterator[Line]:
    warnings.filterwarnings("ignore", message="The image decoding and encoding capabilities of TorchVision")
    torch.set_num_threads(1)
    workers = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        paths = make_files(Path(folder))
        for parts, method in ((1, "pseudo_label"), (2, "fixmatch")):
            data, loader = ours(Path(folder), method, workers)
            bare = DataLoader(Bare(paths, parts), batch_size=BATCH, num_workers=workers)
            rates = [0.0, 0.0, 0.0]
            for _ in range(TURNS):
                rates[0] = max(rates[0], rate(bare, lambda _: None))
                rates[1] = max(rates[1], rate(loader, lambda _: None))
                rates[2] = max(rates[2], rate(loader, data.views.of_step))
            each = "two parts" if parts == 2 else "a part"
            what = f"{each} of a picture, 224 pixels, {workers} workers"
            bare_time, own_time, with_views = (1e3 / rate for rate in rates)
            yield Line(what, own_time, bare_time, "ms", "decode and crop only", at_most=1.1)
            yield Line(f"{each} of a picture, with RandAugment on these cores", with_views, bare_time, "ms", "the same")


def make_files(folder: Path) -> list[Path]:
    images = cifar10(data_folder()).train.images  # type: ignore[attr-defined]
    paths = []
    for part in ("train", "val"):
        for number in range(NUM_FILES):
            mosaic = make_grid(images[number * 192 : (number + 1) * 192], nrow=16, padding=0)[:, :375, :500]
            path = folder / part / f"class {number % 2}" / f"{number}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(mosaic.permute(1, 2, 0).numpy()).save(path, quality=90)
            paths.append(path)
    return paths[:NUM_FILES]


def ours(root: Path, method: str, workers: int) -> tuple[SemiSupervisedData, DataLoader[RawStep]]:
    data = data_for(
        *("data=imagenet", "views=imagenet", f"data.root={root}", "data.num_classes=2", "num_labels=4"),
        *(f"method={method}", f"max_steps={STEPS}", f"data.num_workers={workers}"),
        *("batch_size=1", f"unlabeled_ratio={BATCH - 1}"),  # all but one are unlabeled pictures
    )
    return data, data.train_dataloader()


def rate(loader: DataLoader[Any], use: Callable[[Any], object]) -> float:
    """Pictures per second from the first batch to the last: starting the workers is not counted."""
    batches = iter(loader)
    next(batches)
    start, count = time.perf_counter(), 0
    for batch in batches:
        use(batch)
        count += BATCH
    return count / (time.perf_counter() - start)


if __name__ == "__main__":
    show(lines())
