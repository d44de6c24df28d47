from pathlib import Path

import pytest
import torch
from torch import nn

from smoothpl.data.frames import CentralCrop
from smoothpl.inference.classifier import Classifier
from smoothpl.inference.joined import Joined
from smoothpl.inference.suggestions import (
    DOUBTFUL,
    POORLY_COVERED,
    UNLIKE,
    Look,
    look_at,
    look_by,
    nearest,
    poorly_covered,
    suggest,
)
from smoothpl.nets.heads import LinearHead
from smoothpl.nets.several import SeveralHeads
from tests.support.backbones import tiny_encoder


def sure_of(c: int, p: float, classes: int = 3) -> list[float]:
    return [p if each == c else (1 - p) / (classes - 1) for each in range(classes)]


def test_doubt_is_entropy_between_nothing_and_all() -> None:
    look = Look(torch.tensor([sure_of(0, 1.0), [1 / 3, 1 / 3, 1 / 3], sure_of(0, 0.9)]), torch.zeros(3, 2))
    assert look.doubt[0] == 0
    torch.testing.assert_close(look.doubt[1], torch.tensor(1.0))
    assert 0 < look.doubt[2] < 1


def test_the_doubtful_come_before_the_sure_and_not_twice_in_one_place() -> None:
    """Two groups of doubtful images and one of sure ones: one of each doubtful group is asked for first."""
    features = torch.tensor([[0.0, 10.0]] * 3 + [[10.0, 0.0]] * 3 + [[10.0, 10.0]] * 3)
    features = features + 0.01 * torch.arange(18).view(9, 2)
    doubtful, sure = [0.4, 0.3, 0.3], sure_of(0, 0.9999)
    unlabeled = Look(torch.tensor([doubtful] * 6 + [sure] * 3), features)
    labeled = Look(torch.tensor([sure]), torch.zeros(1, 2))
    found = suggest(unlabeled, labeled, torch.tensor([0]), 0.99999, 2)
    assert {each.image // 3 for each in found} == {0, 1}
    assert {each.why for each in found} == {DOUBTFUL}
    assert found[0].guess == 0
    assert found[0].confidence == torch.tensor(0.4)


def test_what_has_a_label_is_not_asked_for_again() -> None:
    features = torch.tensor([[0.0, 0.0], [5.0, 5.0]])
    unlabeled = Look(torch.tensor([[0.4, 0.3, 0.3]] * 2), features)
    (first,) = suggest(unlabeled, Look(unlabeled.probabilities[:1], features[:1]), torch.tensor([0]), 0.95, 1)
    assert first.image == 1


def test_poorly_covered_classes_come_first_with_their_likeliest_images() -> None:
    """Class 2 is never predicted with confidence; image 7 is the likeliest to be one."""
    rows = [sure_of(0, 0.99)] * 5 + [sure_of(1, 0.99)] * 2 + [[0.5, 0.1, 0.4]] + [[0.5, 0.3, 0.2]] * 2
    unlabeled = Look(torch.tensor(rows), torch.randn(10, 4))
    labels = torch.tensor([0, 1, 2])
    assert poorly_covered(unlabeled, labels, 0.95) == [2]
    found = suggest(unlabeled, Look(torch.tensor(rows[:3]), torch.randn(3, 4)), labels, 0.95, 4)
    assert (found[0].image, found[0].why, found[0].for_class) == (7, POORLY_COVERED, 2)
    assert [each.for_class for each in found] == [2, 2, None, None]
    assert len({each.image for each in found}) == 4


def test_there_are_never_more_suggestions_than_images() -> None:
    unlabeled = Look(torch.tensor([sure_of(0, 0.99)] * 3), torch.randn(3, 4))
    found = suggest(unlabeled, Look(unlabeled.probabilities[:1], torch.randn(1, 4)), torch.tensor([0]), 0.95, 20)
    assert sorted(each.image for each in found) == [0, 1, 2]


def test_no_image_is_called_unsure_beside_a_confident_guess() -> None:
    unlabeled = Look(torch.tensor([sure_of(0, 0.99)] * 3), torch.randn(3, 4))
    (found,) = suggest(unlabeled, Look(unlabeled.probabilities[:1], torch.randn(1, 4)), torch.tensor([0]), 0.95, 1)
    assert found.why == UNLIKE


def test_no_class_is_poorly_covered_when_nothing_is_sure() -> None:
    assert poorly_covered(Look(torch.full((4, 3), 1 / 3), torch.zeros(4, 2)), torch.tensor([0, 1, 2]), 0.95) == []


def test_nearest_is_by_brute_force() -> None:
    features, others = torch.randn(3000, 3), torch.randn(5, 3)
    expected = (features.unsqueeze(1) - others).square().sum(dim=2).sqrt().amin(dim=1)
    torch.testing.assert_close(nearest(features, others), expected, atol=1e-4, rtol=0)


def test_features_are_what_the_last_layer_sees() -> None:
    network = nn.Sequential(nn.Flatten(), nn.Linear(12, 5), nn.ReLU(), nn.Linear(5, 3))
    classifier = Classifier(network, "abc", CentralCrop(2, 1.0), [0.5] * 3, [0.5] * 3)
    images, rows = torch.randint(256, (7, 3, 2, 2), dtype=torch.uint8), torch.tensor([6, 0, 3])
    look = look_at(classifier, images, rows)
    inputs = (images[rows].float() - classifier.mean) / classifier.std
    torch.testing.assert_close(look.features, network[:3](inputs))
    torch.testing.assert_close(look.probabilities, network(inputs).softmax(dim=1))
    assert not network[3]._forward_pre_hooks
    bare = Classifier(
        nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten()), "abc", CentralCrop(2, 1.0), [0.5] * 3, [0.5] * 3
    )
    look = look_at(bare, images, rows)  # which has no last layer
    torch.testing.assert_close(look.features.softmax(dim=1), look.probabilities)


def test_vectors_of_a_backbone_are_the_features_as_its_head_scales_them() -> None:
    head, vectors = LinearHead(4, 3), torch.randn(5, 4)
    head.standardise_by(torch.randn(4), torch.rand(4) + 0.5)
    torch.nn.init.normal_(head.classify.weight)
    look = look_by(head, vectors)
    torch.testing.assert_close(look.features, (vectors - head.mean) * head.scale)
    torch.testing.assert_close(look.probabilities, head(vectors).softmax(dim=1))
    both = look_by(SeveralHeads([head, head]), torch.cat([vectors, vectors], dim=1))
    torch.testing.assert_close(both.features, torch.cat([look.features] * 2, dim=1))
    torch.testing.assert_close(look_by(nn.Linear(4, 3), vectors).features, vectors)


def test_images_are_looked_at_through_a_backbone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    encoder, head = tiny_encoder(), LinearHead(96, 3)
    classifier = Classifier(
        Joined({"tiny": encoder}, head, 8, "torch"), "abc", CentralCrop(8, 1.0), [0.0] * 3, [1 / 255] * 3
    )
    images = torch.randint(256, (40, 3, 8, 8), dtype=torch.uint8)
    look = look_at(classifier, images, torch.arange(30, 10, -1))
    torch.testing.assert_close(look.features, encoder(images.flip(0)[9:29]).half().float())
    assert look.probabilities.shape == (20, 3)
