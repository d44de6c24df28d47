import hashlib
import shutil
from pathlib import Path

import pytest
import torch

from smoothpl.data import cifar10, cifar100
from smoothpl.data.sets.cifar import CIFAR10, CIFAR100, read_batch
from smoothpl.errors import ConfigError
from smoothpl.run.training import train
from tests.support.composing import TINY, composed
from tests.support.images import in_memory
from tests.support.real import ROOT, needs_cifar10, real_cifar10

FOLDER = "cifar-10-batches-bin"


@needs_cifar10
def test_the_whole_of_cifar10_is_there() -> None:
    source = real_cifar10()
    assert in_memory(source.train).images.shape == (50_000, 3, 32, 32)
    assert in_memory(source.test).images.shape == (10_000, 3, 32, 32)
    assert source.train.labels.bincount().tolist() == [5000] * 10
    assert source.test.labels.bincount().tolist() == [1000] * 10
    names = (Path(ROOT) / FOLDER / "batches.meta.txt").read_text().split()
    assert list(source.class_names) == names


@needs_cifar10
def test_the_yaml_states_the_facts_of_cifar10() -> None:
    data = composed("data=cifar10").data
    channels = [in_memory(real_cifar10().train).images[:, c].float() / 255 for c in range(3)]
    assert [pixels.mean().item() for pixels in channels] == pytest.approx(list(data.mean), abs=5e-4)
    assert [pixels.std().item() for pixels in channels] == pytest.approx(list(data.std), abs=5e-4)
    assert list(data.mean) == pytest.approx([125.3 / 255, 123.0 / 255, 113.9 / 255], abs=5e-5)
    assert list(data.std) == pytest.approx([63.0 / 255, 62.1 / 255, 66.7 / 255], abs=5e-5)


def test_a_record_is_a_label_and_three_planes(tmp_path: Path) -> None:
    pixels = torch.randint(256, (2, 3, 32, 32), dtype=torch.uint8)
    records = [bytes([label]) + bytes(image.flatten().tolist()) for label, image in zip((7, 3), pixels, strict=True)]
    (tmp_path / "batch.bin").write_bytes(b"".join(records))
    batch = read_batch(tmp_path / "batch.bin", label_bytes=1)
    assert batch.labels.tolist() == [7, 3]
    assert torch.equal(batch.images, pixels)


def test_a_folder_that_is_not_cifar10_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError,
        match=r"data\.root=.*does not hold cifar-10-batches-py or cifar-10-batches-bin; data\.download=true",
    ):
        cifar10(str(tmp_path))
    (tmp_path / FOLDER).mkdir()
    with pytest.raises(ConfigError, match=r"does not hold data_batch_1\.bin, .*SMOOTHPL_DATA"):
        cifar10(str(tmp_path))


@needs_cifar10
def test_a_truncated_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / FOLDER).mkdir()
    for name in [*CIFAR10, "batches.meta.txt"]:
        (tmp_path / FOLDER / name).symlink_to(Path(ROOT).resolve() / FOLDER / name)
    broken = tmp_path / FOLDER / "data_batch_3.bin"
    broken.unlink()
    shutil.copy(Path(ROOT) / FOLDER / "data_batch_3.bin", broken)
    broken.chmod(0o644)
    with broken.open("r+b") as file:
        file.truncate(1000)
    with pytest.raises(ConfigError, match=r"data_batch_3\.bin is damaged"):
        cifar10(str(tmp_path))


@needs_cifar10
@pytest.mark.parametrize("split", ["balanced", "random", "imbalanced"])
def test_a_run_on_real_photographs(tmp_path: Path, split: str) -> None:
    config = composed(
        *TINY, "data=cifar10", "views=torchssl", f"split={split}", "eval_every=100", "max_steps=2", f"data.root={ROOT}"
    )
    record = train(config, tmp_path, "cifar10")
    assert record.num_test == 10_000
    assert sum(record.labeled_per_class) == 40
    assert sum(record.unlabeled_per_class) == (48_000 if split == "imbalanced" else 50_000)


def write_cifar100(folder: Path, monkeypatch: pytest.MonkeyPatch) -> torch.Tensor:
    """Small files in the form of the real ones, whose MD5 take the place of theirs."""
    folder.mkdir()
    pixels = torch.randint(256, (2, 3, 32, 32), dtype=torch.uint8)
    for name in CIFAR100:
        records = [bytes([19, 7 + i]) + bytes(image.flatten().tolist()) for i, image in enumerate(pixels)]
        (folder / name).write_bytes(b"".join(records))
        monkeypatch.setitem(CIFAR100, name, hashlib.md5((folder / name).read_bytes()).hexdigest())
    (folder / "fine_label_names.txt").write_text("".join(f"class_{c}\n" for c in range(100)))
    return pixels


def test_cifar100_has_two_labels_of_which_the_fine_one_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    pixels = write_cifar100(tmp_path / "cifar-100-binary", monkeypatch)
    source = cifar100(str(tmp_path))
    assert source.train.labels.tolist() == source.test.labels.tolist() == [7, 8]
    assert torch.equal(source.test.read(torch.tensor([0, 1]), None, [])[0], pixels)
    assert len(source.class_names) == 100


def test_a_damaged_cifar100_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_cifar100(tmp_path / "cifar-100-binary", monkeypatch)
    (tmp_path / "cifar-100-binary" / "train.bin").write_bytes(b"something else")
    with pytest.raises(ConfigError, match=r"train\.bin is damaged or not the published file"):
        cifar100(str(tmp_path))
