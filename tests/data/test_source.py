from pathlib import Path

import pytest
import torch
from omegaconf import DictConfig

from smoothpl.data import ImageSet, Source
from smoothpl.data.folder.scan import scan_folder
from smoothpl.data.source import images_of
from smoothpl.errors import ConfigError
from smoothpl.run.build import build_data
from smoothpl.run.step_time import image_size
from smoothpl.run.training import train
from tests.support.composing import TINY, composed, options
from tests.support.gallery import make_gallery
from tests.support.own import two_digits


def test_the_length_of_a_set_is_its_number_of_images() -> None:
    assert len(ImageSet(torch.zeros(5, 1, 8, 8), torch.zeros(5))) == 5


def small(option: str, root: Path) -> DictConfig:
    """A small data set of the kind that an option in conf/data reads, or is about to fetch."""
    if option == "digits":
        return composed("data=digits")
    if option == "folder":
        scan = scan_folder(str(two_digits(root, test=2)))
        digests = [f"data.images_digest={scan.images_digest}", f"data.labels_digest={scan.labels_digest}"]
        facts = ["data.num_classes=2", "num_labels=8", "data.folds=0", "data.padding=1", "data.size=12"]
        return composed("benchmark=folder", f"data.root={root}", *digests, *facts)
    if option == "imagenet":
        make_gallery(root)
        facts = ["data.num_classes=2", "num_labels=4", "data.size=20", "data.num_workers=0"]
        return composed("data=imagenet", f"data.root={root}", *facts)
    return composed(f"data={option}", f"data.root={root}", "data.download=true", "data.num_classes=10", "num_labels=10")


@pytest.mark.usefixtures("web")
@pytest.mark.parametrize("option", options("data"))
def test_every_data_set_says_how_large_its_images_are_before_it_is_opened(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    config = small(option, tmp_path / "data")
    with monkeypatch.context() as patch:
        patch.setattr("smoothpl.run.step_time.build_data", None)
        stated = image_size(config)
    data = build_data(config)
    data.setup("fit")
    assert stated == data.image_size
    batch = data.on_after_batch_transfer(next(iter(data.train_dataloader())), 0)
    assert batch.weak.shape[-2:] == stated


def stripes() -> Source:
    """Two classes, 8 x 8 pixels: rows or columns."""
    images = torch.zeros(40, 1, 8, 8, dtype=torch.uint8)
    images[0::2, :, ::2] = 255
    images[1::2, :, :, ::2] = 255
    labels = torch.arange(40) % 2
    return Source(ImageSet(images, labels), ImageSet(images[:10], labels[:10]), ("rows", "columns"))


@images_of(8)
def stripes_that_say_so() -> Source:
    raise ConfigError("opened")


def own(source: str) -> DictConfig:
    return composed(*TINY, f"data.source._target_={__name__}.{source}", "data.num_classes=2", "num_labels=4")


def test_a_source_of_ones_own_may_say_how_large_its_images_are_and_is_opened_otherwise(tmp_path: Path) -> None:
    assert image_size(own("stripes")) == image_size(own("stripes_that_say_so")) == (8, 8)
    with pytest.raises(ConfigError, match="opened"):
        build_data(own("stripes_that_say_so")).setup("fit")
    assert train(own("stripes"), tmp_path / "run").image_size == [8, 8]
