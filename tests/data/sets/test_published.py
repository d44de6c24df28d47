import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torchvision import datasets

from smoothpl.data import Source, cifar10, cifar100, fashion_mnist, stl10, svhn
from smoothpl.data.sets import published
from smoothpl.errors import ConfigError
from tests.support.images import in_memory
from tests.support.processes import SERVER, exit_codes
from tests.support.web import Web

SOURCES: dict[str, Callable[..., Source]] = {
    each.__name__: each for each in (cifar10, cifar100, svhn, stl10, fashion_mnist)
}
DIMS = {"svhn": (3, 32, 32), "stl10": (3, 96, 96), "fashion_mnist": (1, 28, 28)}


@pytest.mark.parametrize("name", SOURCES)
def test_data_are_fetched_once_and_on_request_only(name: str, web: Web, tmp_path: Path) -> None:
    root = str(tmp_path / "data")
    with pytest.raises(ConfigError, match=r"does not hold .*; data\.download=true fetches"):
        SOURCES[name](root)
    assert not web.requests
    source = SOURCES[name](root, download=True)
    dims = DIMS.get(name, (3, 32, 32))
    assert source.test.read(torch.arange(3), None, [])[0].shape == (3, *dims)
    assert source.train.labels.dtype == torch.int64
    assert len(source.class_names) == 10
    asked = len(web.requests)
    again = SOURCES[name](root)
    assert torch.equal(in_memory(again.train).images, in_memory(source.train).images)
    assert len(web.requests) == asked


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.usefixtures("web")
def test_nothing_is_left_beside_the_data(name: str, tmp_path: Path) -> None:
    SOURCES[name](str(tmp_path / "data"), download=True)
    left = {path.name for path in (tmp_path / "data").iterdir() if not path.name.endswith(".lock")}
    assert left <= {
        *("cifar-10-batches-py", "cifar-100-python", "stl10_binary", "FashionMNIST"),
        *("train_32x32.mat", "test_32x32.mat"),
    }


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.usefixtures("web")
def test_a_damaged_file_is_found(name: str, tmp_path: Path) -> None:
    SOURCES[name](str(tmp_path / "data"), download=True)
    for path in (tmp_path / "data").rglob("*"):
        if path.is_file() and path.stat().st_size > 1000:
            path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ConfigError, match=r"damaged, or not the published data .*; remove it and fetch it again"):
        SOURCES[name](str(tmp_path / "data"))


@pytest.mark.usefixtures("web")
def test_of_stl10_most_labels_are_unknown(tmp_path: Path) -> None:
    source = stl10(str(tmp_path), download=True)
    assert source.train.labels.tolist() == [*range(10), *range(10), *[-1] * 30]


@pytest.mark.usefixtures("web")
def test_cifar_images_stand_upright(tmp_path: Path) -> None:
    source = cifar10(str(tmp_path), download=True)
    stored = pickle.loads((tmp_path / "cifar-10-batches-py" / "test_batch").read_bytes())["data"]
    assert torch.equal(in_memory(source.test).images, torch.from_numpy(stored).view(-1, 3, 32, 32))


@pytest.mark.usefixtures("web")
def test_what_a_killed_run_left_half_unpacked_is_thrown_away(tmp_path: Path) -> None:
    draft = tmp_path / "data" / ".STL10.draft" / "stl10_binary"
    draft.mkdir(parents=True)
    (draft / "train_X.bin").write_bytes(b"half")
    assert len(stl10(str(tmp_path / "data"), download=True).test) == 10
    assert not draft.exists()


@pytest.mark.usefixtures("web")
@pytest.mark.parametrize("content", [b"garbage", b""])
def test_an_archive_that_was_put_there_by_hand_is_checked_too(content: bytes, tmp_path: Path) -> None:
    by_hand = tmp_path / ".CIFAR10.downloads" / datasets.CIFAR10.filename
    by_hand.parent.mkdir()
    by_hand.write_bytes(content)
    with pytest.raises(ConfigError, match=r"not the published file: .*; put another file there, or remove it"):
        cifar10(str(tmp_path), download=True)
    by_hand.unlink()
    assert len(cifar10(str(tmp_path), download=True).test) == 20


@pytest.mark.usefixtures("web")
def test_an_archive_that_cannot_be_unpacked_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def disk_full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(published, "extract_archive", disk_full)
    with pytest.raises(ConfigError, match=r"CIFAR10 could not be unpacked in .*No space left on device"):
        cifar10(str(tmp_path / "data"), download=True)
    assert {path.name for path in (tmp_path / "data").iterdir()} == {".CIFAR10.lock", ".CIFAR10.downloads"}


def open_fashion_mnist(mirrors: list[str], resources: list[tuple[str, str]], root: Path) -> None:
    datasets.FashionMNIST.mirrors, datasets.FashionMNIST.resources = mirrors, resources
    assert len(fashion_mnist(str(root), download=True).test) == 10


def test_two_runs_on_an_empty_cache_fetch_the_data_once(web: Web, tmp_path: Path) -> None:
    """Two processes that share nothing but the folder; the small data set's addresses are handed over."""
    kind = datasets.FashionMNIST
    arguments = (kind.mirrors, kind.resources, tmp_path / "data")
    assert exit_codes([SERVER.Process(target=open_fashion_mnist, args=arguments) for _ in range(2)]) == [0, 0]
    assert len(web.requests) == 4
