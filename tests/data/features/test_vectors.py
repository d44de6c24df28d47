from typing import Any

import torch

from smoothpl.data import Fold, Steps
from smoothpl.data.features.vectors import AnyLook, LooksOfStep, Stored, Vectors

NUMBER = 12
LABELS = torch.arange(NUMBER) % 3


def stored(kind: int, number: int, dim: int) -> Stored:
    """The vector of image i says which one it is: kind, number of the look, image. Rows are in another order."""
    row = torch.arange(NUMBER).flip(0)
    vectors = torch.empty(NUMBER, dim, dtype=torch.float16)
    vectors[row] = torch.tensor([[kind, number, image] for image in range(NUMBER)]).half().repeat(1, dim // 3)
    return Stored(vectors, row)


def table(dim: int = 3) -> dict[str, list[Stored]]:
    return {name: [stored(kind, number, dim) for number in range(3)] for kind, name in enumerate(("weak", "strong"))}


def test_a_look_is_chosen_by_what_was_drawn() -> None:
    draws = [torch.tensor([[0.0], [0.34], [0.999]]), torch.tensor([[0.7], [0.1], [0.5]])]
    weak, strong = Vectors([table()], LABELS).read(torch.tensor([4, 5, 11]), AnyLook(), draws)
    assert weak.tolist() == [[0, 0, 4], [0, 1, 5], [0, 2, 11]]
    assert strong.tolist() == [[1, 2, 4], [1, 0, 5], [1, 1, 11]]


def test_where_nothing_is_drawn_it_is_the_image_itself() -> None:
    (found,) = Vectors([table()], LABELS).read(torch.tensor([2]), None, [torch.empty(1, 0)])
    assert found.tolist() == [[0, 0, 2]]


def test_vectors_of_several_backbones_stand_side_by_side() -> None:
    (found,) = Vectors([table(3), table(6)], LABELS).read(torch.tensor([8]), AnyLook(), [torch.tensor([[0.5]])])
    assert found.tolist() == [[0, 1, 8] * 3]


def test_a_turned_look_is_the_strong_one_that_the_same_draws_give() -> None:
    turned = {"turned": [stored(10 * quarters, number, 3) for number in range(3) for quarters in (1, 2, 3)]}
    draws, turn = torch.tensor([[0.7], [0.1], [0.5], [0.99]]), torch.tensor([0, 1, 2, 3])
    found = Vectors([table() | turned], LABELS).turned(torch.tensor([4, 5, 11, 2]), draws, turn)
    assert found.tolist() == [[1, 2, 4], [10, 0, 5], [20, 1, 11], [30, 2, 2]]


def test_all_weak_looks_of_some_images() -> None:
    looks = list(Vectors([table()], LABELS).weak_looks(torch.tensor([1, 2])))
    assert [each.tolist() for each in looks] == [[[0, number, 1], [0, number, 2]] for number in range(3)]


def steps(**more: int) -> Steps:
    fold = Fold(torch.tensor([0, 1, 2]), torch.arange(NUMBER))
    settings: Any = {"batch_size": 4, "unlabeled_ratio": 2, "max_steps": 5, "seed": 1} | more
    return Steps(Vectors([table()], LABELS), fold, LooksOfStep(), **settings)


def test_a_step_is_a_function_of_seed_and_number_also_over_ranks() -> None:
    batch, again, other = (LooksOfStep().of_step(each) for each in (steps()[3], steps()[3], steps(seed=2)[3]))
    for one, same in zip(batch, again, strict=True):
        torch.testing.assert_close(one, same, rtol=0, atol=0)
    assert not batch.weak.equal(other.weak)
    shares = [steps(rank=rank, num_ranks=2)[3] for rank in (0, 1)]
    assert torch.cat([share.unlabeled for share in shares]).equal(batch.weak)


def test_labels_weak_and_strong_vectors_of_a_step_belong_together() -> None:
    batch = LooksOfStep().of_step(steps()[0])
    assert batch.strong is not None
    assert batch.weak.dtype == torch.float16
    assert batch.weak[:, 2].equal(batch.image.half())
    assert batch.strong[:, 2].equal(batch.image.half())
    assert LABELS[batch.labeled[:, 2].long()].equal(batch.label)
    assert {*batch.weak[:, 0].tolist()} == {0}
    assert {*batch.strong[:, 0].tolist()} == {1}
