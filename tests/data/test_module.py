from pathlib import Path
from unittest.mock import Mock

import pytest
import torch

from smoothpl.data import Batch, ImageSet, SemiSupervisedData, Source
from smoothpl.data.wanted import FURTHER_CHANCE, FURTHER_VIEWS
from smoothpl.errors import ConfigError
from smoothpl.run.build import build_data
from tests.support.composing import TINY, composed, options
from tests.support.gallery import make_gallery
from tests.support.images import in_memory
from tests.support.same import same


def opened(*overrides: str) -> SemiSupervisedData:
    data = build_data(composed(*TINY, *overrides))
    data.setup("fit")
    return data


def first_batch(data: SemiSupervisedData) -> Batch:
    batch = data.on_after_batch_transfer(next(iter(data.train_dataloader())), 0)
    assert isinstance(batch, Batch)
    return batch


@pytest.mark.parametrize("method", options("method"))
def test_every_method_gets_the_views_that_it_learns_from(method: str) -> None:
    config = composed(*TINY, f"method={method}")
    batch = first_batch(opened(f"method={method}"))
    assert batch.labeled.shape == (4, 1, 8, 8)
    assert len(batch.weak) == 4 * config.unlabeled_ratio
    assert (batch.strong is None) == (config.learned_view != "strong")
    further = {name for name in config.views_wanted if name in FURTHER_VIEWS}
    assert {*batch.views} == further | ({"turned"} if "turn" in config.views_wanted else set())
    assert {*batch.chance} == {*config.views_wanted} - further


def test_methods_share_their_batches_so_that_runs_can_be_paired() -> None:
    fixmatch, smooth = first_batch(opened("method=fixmatch")), first_batch(opened("method=smooth"))
    assert same(fixmatch, smooth)


def test_what_a_method_wants_besides_changes_nothing_else() -> None:
    """Every further view, and all further chance, has a stream of its own."""
    plain = first_batch(opened("method=fixmatch"))
    wanted = ",".join([*FURTHER_VIEWS, *FURTHER_CHANCE])
    rich = first_batch(opened("method=fixmatch", f"views_wanted=[{wanted}]"))
    assert same(plain[:6], rich[:6])
    assert not plain.views
    assert rich.strong is not None
    views = [rich.weak, rich.strong, *rich.views.values()]
    assert all(not one.equal(other) for number, one in enumerate(views) for other in views[:number])
    assert rich.views["labeled_strong"].shape == rich.labeled.shape


def test_another_seed_draws_other_batches_and_leaves_the_labeled_images_as_they_were() -> None:
    one, other = opened("seed=0"), opened("seed=1")
    assert torch.equal(one.fold.labeled, other.fold.labeled)
    assert not torch.equal(first_batch(one).image, first_batch(other).image)


def test_another_fold_labels_other_images_and_leaves_the_chance_of_training_as_it_was() -> None:
    one, other = opened("fold=0"), opened("fold=1")
    assert not torch.equal(one.fold.labeled, other.fold.labeled)
    assert torch.equal(first_batch(one).image, first_batch(other).image)


def test_the_data_must_have_the_number_of_classes_that_the_yaml_says() -> None:
    with pytest.raises(ConfigError, match=r"data\.num_classes=5, but the data have 10 classes"):
        opened("data.num_classes=5")


def test_the_test_set_is_seen_whole_and_never_distorted() -> None:
    data = opened()
    images, labels = data.on_after_batch_transfer(next(iter(data.test_dataloader())), 0)
    assert torch.equal(labels, data.source.test.labels)
    assert torch.equal(images, data.views.of_test(in_memory(data.source.test).images))


def test_no_test_image_trains() -> None:
    data = opened()
    trained = {tuple(image.flatten().tolist()) for image in in_memory(data.source.train).images}
    tested = {tuple(image.flatten().tolist()) for image in in_memory(data.source.test).images}
    assert trained.isdisjoint(tested)


def source_with(train_labels: list[int], test_labels: list[int]) -> Source:
    train, test = (
        ImageSet(torch.zeros(len(labels), 1, 8, 8, dtype=torch.uint8), torch.tensor(labels))
        for labels in (train_labels, test_labels)
    )
    return Source(train, test, tuple("0123456789"))


@pytest.mark.parametrize(
    ("train_labels", "test_labels", "complaint"),
    [
        ([0, 12], [0], "1 training images have labels outside 0 to 9, the first one 12"),
        ([0, -3], [0], "1 training images have labels outside 0 to 9, the first one -3"),
        ([0, -1], [-1], "1 test images have labels outside 0 to 9, the first one -1"),
    ],
)
def test_labels_out_of_range_are_refused(train_labels: list[int], test_labels: list[int], complaint: str) -> None:
    data = build_data(composed(*TINY))
    data.open_source = lambda: source_with(train_labels, test_labels)
    with pytest.raises(ConfigError, match=complaint):
        data.setup("fit")


def on_rank(rank: int, num_ranks: int, *overrides: str, parts: int = 1) -> SemiSupervisedData:
    data = opened(*overrides)
    progress = {"global_step": 0, "accumulate_grad_batches": parts}
    data.trainer = Mock(global_rank=rank, world_size=num_ranks, **progress)
    return data


@pytest.mark.parametrize(("num_ranks", "parts", "shares"), [(3, 1, 3), (1, 3, 3), (2, 4, 8)])
def test_a_step_must_divide_into_equal_shares(num_ranks: int, parts: int, shares: int) -> None:
    complaint = f"batch_size=4 does not divide into {shares} equal shares, one for every device and part of a step"
    with pytest.raises(ConfigError, match=complaint):
        on_rank(0, num_ranks, parts=parts).train_dataloader()
    assert len(on_rank(0, 2, parts=2).train_dataloader()) == 2 * 4


@pytest.mark.parametrize(("num_ranks", "sizes"), [(1, [500]), (2, [250, 250]), (3, [167, 167, 166])])
def test_every_rank_evaluates_its_share_of_the_test_images(num_ranks: int, sizes: list[int]) -> None:
    batches = [list(on_rank(rank, num_ranks).val_dataloader()) for rank in range(num_ranks)]
    assert [len(batch) for of_rank in batches for batch in of_rank] == sizes
    seen = torch.cat([batch.labels for of_rank in batches for batch in of_rank])
    assert torch.equal(seen, opened().source.test.labels)


def test_the_size_of_images_is_read_off_them() -> None:
    data = build_data(composed(*TINY))
    images = ImageSet(torch.zeros(40, 1, 8, 12, dtype=torch.uint8), torch.arange(40) % 10)
    data.open_source = lambda: Source(images, images, tuple("0123456789"))
    data.setup("fit")
    assert data.image_size == (8, 12)


def test_views_for_pictures_of_many_sizes_need_such_pictures(tmp_path: Path) -> None:
    data = build_data(composed(*TINY, "data=imagenet", "views=imagenet", "num_labels=1000"))
    data.open_source, data.num_classes = lambda: source_with([0], [0]), 10
    with pytest.raises(ConfigError, match=r"the training images are all of one size.*; use views=torchssl"):
        data.setup("fit")
    pictures = build_data(
        composed(*TINY, "data=imagenet", "views=torchssl", "data.num_classes=2", f"data.root={make_gallery(tmp_path)}")
    )
    with pytest.raises(ConfigError, match=r"the training images are not all of one size.*; use views=imagenet"):
        pictures.setup("fit")


def test_some_image_must_be_unlabeled() -> None:
    with pytest.raises(ConfigError, match=r"no unlabeled image is left.*unlabeled_includes_labeled=true"):
        opened("split=random", "num_labels=1297", "split.unlabeled_includes_labeled=false")
