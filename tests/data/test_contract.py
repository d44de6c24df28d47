"""The randomness contract: a batch is a function of the seed and of the number of its step, and of nothing else."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from smoothpl.data import Batch
from smoothpl.run.build import build_data
from tests.support.composing import composed, options
from tests.support.listener import Listener, trainer
from tests.support.real import ROOT, needs_cifar10
from tests.support.same import same

KNOBS = ["max_steps=6", "batch_size=4", "unlabeled_ratio=7"]
PHOTOGRAPHS = [*KNOBS, "data=cifar10", "views=torchssl", f"data.root={ROOT}"]


def heard(*overrides: str) -> dict[int, Batch]:
    """The batches of an uninterrupted run."""
    config = composed(*overrides)
    listener = Listener()
    trainer(config.max_steps).fit(listener, datamodule=build_data(config))
    return listener.seen


def joined(one: Any, other: Any) -> Any:
    """What two ranks have, put side by side."""
    if isinstance(one, Mapping):
        return {name: joined(one[name], other[name]) for name in one}
    return None if one is None else torch.cat([one, other])


@needs_cifar10
def test_two_ranks_share_the_batch_of_one(tmp_path: Path) -> None:
    """Two real processes; put side by side, their batches are those of a single process, to the bit."""
    command = [sys.executable, "-m", "tests.support.listener", str(tmp_path), "2", *PHOTOGRAPHS]
    subprocess.run(command, check=True, timeout=300, capture_output=True)
    ranks = [torch.load(tmp_path / f"{rank}.pt") for rank in range(2)]
    alone = heard(*PHOTOGRAPHS)
    assert list(alone) == list(ranks[0]) == list(ranks[1]) == list(range(6))
    for step, batch in alone.items():
        assert len(ranks[0][step][0]) == 2
        assert len(ranks[1][step][2]) == 14
        assert same(batch, tuple(joined(*parts) for parts in zip(ranks[0][step], ranks[1][step], strict=True)))


@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_resumed_run_continues_with_the_batches_it_would_have_seen(tmp_path: Path, num_workers: int) -> None:
    config = composed(*KNOBS, f"data.num_workers={num_workers}")
    first = trainer(3)
    first.fit(Listener(), datamodule=build_data(config))
    first.save_checkpoint(tmp_path / "half.ckpt")
    rest = Listener()
    trainer(6).fit(rest, datamodule=build_data(config), ckpt_path=tmp_path / "half.ckpt", weights_only=True)
    whole = heard(*KNOBS)
    assert list(rest.seen) == [3, 4, 5]
    assert all(same(rest.seen[step], whole[step]) for step in rest.seen)


@needs_cifar10
def test_workers_do_not_change_what_the_network_sees() -> None:
    here, there = heard(*PHOTOGRAPHS), heard(*PHOTOGRAPHS, "data.num_workers=2")
    assert all(same(here[step], there[step]) for step in range(6))


@needs_cifar10
def test_a_step_can_be_reached_directly() -> None:
    data = build_data(composed(*PHOTOGRAPHS, "max_steps=1048576"))
    data.setup("fit")
    steps = data.train_dataloader().dataset
    late = data.views.of_step(steps[2**20 - 1])
    for earlier in range(3):
        steps[earlier]
    assert same(data.views.of_step(steps[2**20 - 1]), late)
    assert not same(data.views.of_step(steps[2**20 - 2]), late)


@needs_cifar10
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_views_use_no_chance_of_their_own(device: str) -> None:
    """On another device the pictures are the same: nothing is drawn there, nor from the global generator."""
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("no GPU")
    data = build_data(composed(*PHOTOGRAPHS))
    data.setup("fit")
    step = data.train_dataloader().dataset[0]
    listener = Listener().to(device)
    before = torch.get_rng_state()
    moved = data.transfer_batch_to_device(step, listener.device, 0)
    seen, expected = (
        data.views.strong(moved.unlabeled, moved.strong_plan),
        data.views.strong(step.unlabeled, step.strong_plan),
    )
    assert torch.equal(seen.cpu(), expected)
    assert torch.equal(torch.get_rng_state(), before)


@needs_cifar10
@pytest.mark.parametrize("views", [option for option in options("views") if option not in ("digits", "imagenet")])
def test_other_seeds_give_other_batches_of_the_same_fold(views: str) -> None:
    knobs = [*PHOTOGRAPHS, f"views={views}"]
    one, other = (build_data(composed(*knobs, f"seed={seed}")) for seed in (0, 1))
    for data in (one, other):
        data.setup("fit")
    assert torch.equal(one.fold.labeled, other.fold.labeled)
    steps = [data.train_dataloader().dataset[0] for data in (one, other)]
    assert not torch.equal(steps[0].image, steps[1].image)
    assert not torch.equal(steps[0].weak_plan[0], steps[1].weak_plan[0])


@needs_cifar10
def test_the_fold_changes_no_chance_but_the_choice_of_labels() -> None:
    one, other = (heard(*PHOTOGRAPHS, f"fold={fold}") for fold in (0, 1))
    assert all(torch.equal(one[step].strong, other[step].strong) for step in range(6))  # type: ignore[arg-type]
    assert not torch.equal(one[0].labeled, other[0].labeled)
