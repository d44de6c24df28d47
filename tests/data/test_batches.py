from itertools import chain

import pytest
import torch
from torch.utils.data import DataLoader

from smoothpl.data import Steps, balanced, digits
from smoothpl.data.batches import Slices
from tests.support.composing import build
from tests.support.images import in_memory
from tests.support.same import same

SOURCE = digits()
VIEWS = build("views", "digits")


def steps(seed: int = 0, max_steps: int = 2**20, includes_labeled: bool = False) -> Steps:
    fold = balanced(SOURCE.train.labels, 40, 10, 0, includes_labeled)
    return Steps(
        SOURCE.train,
        fold,
        VIEWS,
        batch_size=8,
        unlabeled_ratio=7,
        max_steps=max_steps,
        seed=seed,
    )


def test_a_step_is_a_function_of_seed_and_number() -> None:
    run = steps()
    late = run[2**20 - 1]
    run[0]
    assert same(steps()[2**20 - 1], late)
    assert not same(steps(seed=1)[2**20 - 1], late)
    assert not same(run[2**20 - 2], late)


@pytest.mark.parametrize("num_workers", [1, 2])
def test_workers_do_not_change_the_steps(num_workers: int) -> None:
    loader = DataLoader(steps(max_steps=7), batch_size=None, num_workers=num_workers)
    by_workers, here = list(loader), [steps(max_steps=7)[number] for number in range(7)]
    assert all(same(one, other) for one, other in zip(by_workers, here, strict=True))


def test_labeled_images_come_from_the_fold_with_their_own_labels() -> None:
    run = steps()
    images, labels = in_memory(run.train)
    known = {tuple(images[i].flatten().tolist()): int(labels[i]) for i in run.fold.labeled}
    for step in (run[number] for number in range(20)):
        assert [known[tuple(image.flatten().tolist())] for image in step.labeled] == step.label.tolist()


def test_unlabeled_images_are_named_by_their_place_among_the_unlabeled() -> None:
    run = steps()
    step = run[3]
    assert torch.equal(step.unlabeled, in_memory(run.train).images[run.fold.unlabeled[step.image]])


def test_every_image_has_its_turn_about_equally_often() -> None:
    run = steps(includes_labeled=True)
    count = torch.bincount(torch.cat([run[number].image for number in range(1000)]), minlength=1297)
    expected = 56 * 1000 / 1297
    assert count.min() > expected - 6 * expected**0.5
    assert count.max() < expected + 6 * expected**0.5


def test_labeled_and_unlabeled_streams_are_independent() -> None:
    """TorchSSL's are not: there, labeled index k is unlabeled index k modulo the number of labels."""
    run = steps(includes_labeled=True)
    images = in_memory(run.train).images
    place = {tuple(images[i].flatten().tolist()): k for k, i in enumerate(run.fold.labeled.tolist())}
    pairs = chain.from_iterable(zip(run[t].labeled, run[t].image, strict=False) for t in range(100))
    agree = [place[tuple(labeled.flatten().tolist())] == int(image) % 40 for labeled, image in pairs]
    assert sum(agree) / len(agree) < 0.1


def test_draws_are_uniform() -> None:
    draws = torch.cat([steps()[number].strong_plan for number in range(100)])
    assert draws.dtype == torch.float32
    assert 0 <= draws.min() < 0.001
    assert 0.999 < draws.max() < 1
    torch.testing.assert_close(draws.mean(dim=0), torch.full((9,), 0.5), atol=0.02, rtol=0)


@pytest.mark.parametrize("size", [1, 7, 500, 600])
def test_slices_hold_every_image_once_and_in_order(size: int) -> None:
    slices = Slices(SOURCE.test, None, size)
    assert torch.equal(torch.cat([part.labels for part in iter(slices)]), SOURCE.test.labels)
    assert sum(1 for _ in iter(slices)) == len(slices)


@pytest.mark.parametrize(("num_ranks", "num_parts"), [(1, 4), (4, 1), (2, 2), (2, 4)])
def test_the_shares_of_a_step_put_together_are_the_step(num_ranks: int, num_parts: int) -> None:
    """All ranks, and the parts in which each of them accumulates gradients."""
    whole, ranks = steps(max_steps=5), [steps(max_steps=5) for _ in range(num_ranks)]
    for rank, each in enumerate(ranks):
        each.rank, each.num_ranks, each.num_parts = rank, num_ranks, num_parts
        assert len(each) == 5 * num_parts
    for step in range(5):
        shares = [each[num_parts * step + part] for each in ranks for part in range(num_parts)]
        for field in ("labeled", "label", "unlabeled", "image"):
            together = torch.cat([getattr(share, field) for share in shares])
            assert torch.equal(together, getattr(whole[step], field))


def test_every_test_image_is_read_by_one_of_the_ranks() -> None:
    test = SOURCE.test
    ranks = [Slices(test, None, 70, rank, 3) for rank in range(3)]
    read = torch.cat([part.labels for rank in ranks for part in (rank[i] for i in range(len(rank)))])
    assert len(read) == len(test)
    assert torch.equal(read.sort().values, test.labels.sort().values)
