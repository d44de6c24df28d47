"""Images, the first arrow of the data flow: CIFAR-10 from its official binary files."""

from pathlib import Path

import numpy as np
import torch

from smoothpl.data.checksums import verify
from smoothpl.data.source import ImageSet, Source
from smoothpl.errors import ConfigError

FOLDER = "cifar-10-batches-bin"
MD5 = {
    "data_batch_1.bin": "5dd7e06a14cb22eb9f671a540d1b7c25",
    "data_batch_2.bin": "5ea93a67294ea407fff1d09f752e9692",
    "data_batch_3.bin": "942cd6a4bcdd0dd3c604fbe906cb4421",
    "data_batch_4.bin": "ae636b3ba5c66a11e91e8cb52e771fcb",
    "data_batch_5.bin": "53f37980c15c3d472c316c40844f3f0d",
    "test_batch.bin": "803d5f7f4d78ea53de84dbe85f74fb6d",
}
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
IMAGE_BYTES = 3 * 32 * 32


def cifar10(root: str) -> Source:
    """60,000 colour photographs of 32 x 32 pixels in 10 classes; `root` holds the folder `cifar-10-batches-bin`.

    The binary files, not the pickled ones: nothing in them can be executed.
    """
    folder = Path(root).expanduser() / FOLDER
    missing = [name for name in MD5 if not (folder / name).is_file()]
    if missing:
        raise ConfigError(
            f"data.root={root}: {folder} does not hold {', '.join(missing)}; unpack the archive "
            "cifar-10-binary.tar.gz of the CIFAR-10 home page there, or name its parent as data.root or SMOOTHPL_DATA."
        )
    for name, md5 in MD5.items():
        verify(folder / name, md5)
    parts = [read_batch(folder / name) for name in MD5]
    train = ImageSet(torch.cat([part.images for part in parts[:-1]]), torch.cat([part.labels for part in parts[:-1]]))
    return Source(train=train, test=parts[-1], class_names=CLASSES)


def read_batch(path: Path) -> ImageSet:
    """Records of one label byte and the red, green and blue planes."""
    records = torch.from_numpy(np.fromfile(path, dtype=np.uint8)).view(-1, 1 + IMAGE_BYTES)
    return ImageSet(records[:, 1:].reshape(-1, 3, 32, 32), records[:, 0].long())
