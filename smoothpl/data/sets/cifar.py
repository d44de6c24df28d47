"""Images, the first arrow of the data flow: CIFAR-10 and CIFAR-100, from their official binary files where they are."""

from pathlib import Path

import numpy as np
import torch
from torchvision import datasets

from smoothpl.data.sets.published import cifar
from smoothpl.data.source import ImageSet, Source, images_of
from smoothpl.errors import ConfigError
from smoothpl.io.checksums import verify

CIFAR10 = {
    "data_batch_1.bin": "5dd7e06a14cb22eb9f671a540d1b7c25",
    "data_batch_2.bin": "5ea93a67294ea407fff1d09f752e9692",
    "data_batch_3.bin": "942cd6a4bcdd0dd3c604fbe906cb4421",
    "data_batch_4.bin": "ae636b3ba5c66a11e91e8cb52e771fcb",
    "data_batch_5.bin": "53f37980c15c3d472c316c40844f3f0d",
    "test_batch.bin": "803d5f7f4d78ea53de84dbe85f74fb6d",
}
CIFAR100 = {"train.bin": "6172c7755cfe09b2fe270c85cebc1b15", "test.bin": "4499cfba6c016c1be1438163640a0898"}
IMAGE_BYTES = 3 * 32 * 32


@images_of(32)
def cifar10(root: str, download: bool = False) -> Source:
    """60,000 colour photographs of 32 x 32 pixels in 10 classes.

    `root` holds `cifar-10-batches-bin`, the binary files, in which nothing can be executed; or `cifar-10-batches-py`,
    the pickled ones that torchvision fetches.
    """
    folder = Path(root).expanduser() / "cifar-10-batches-bin"
    if folder.is_dir():
        return read_binary(folder, CIFAR10, "batches.meta.txt", label_bytes=1)
    return cifar(datasets.CIFAR10, root, download, instead=" or cifar-10-batches-bin")


@images_of(32)
def cifar100(root: str, download: bool = False) -> Source:
    """As CIFAR-10, in 100 classes; `root` holds `cifar-100-binary` or `cifar-100-python`."""
    folder = Path(root).expanduser() / "cifar-100-binary"
    if folder.is_dir():
        return read_binary(folder, CIFAR100, "fine_label_names.txt", label_bytes=2)
    return cifar(datasets.CIFAR100, root, download, instead=" or cifar-100-binary")


def read_binary(folder: Path, md5: dict[str, str], names: str, label_bytes: int) -> Source:
    """The last file is the test set, the others are for training."""
    missing = [name for name in (*md5, names) if not (folder / name).is_file()]
    if missing:
        raise ConfigError(
            f"{folder} does not hold {', '.join(missing)}; unpack the binary archive of the CIFAR home page again, or "
            "name another folder as data.root or in the environment variable SMOOTHPL_DATA."
        )
    for name, digest in md5.items():
        verify(folder / name, digest)
    *train, test = (read_batch(folder / name, label_bytes) for name in md5)
    return Source(
        train=ImageSet(torch.cat([part.images for part in train]), torch.cat([part.labels for part in train])),
        test=test,
        class_names=tuple((folder / names).read_text().split()),
    )


def read_batch(path: Path, label_bytes: int) -> ImageSet:
    """Records of labels, the last of which is the class, and of the red, green and blue planes."""
    records = torch.from_numpy(np.fromfile(path, dtype=np.uint8)).view(-1, label_bytes + IMAGE_BYTES)
    return ImageSet(records[:, label_bytes:].reshape(-1, 3, 32, 32), records[:, label_bytes - 1].long())
