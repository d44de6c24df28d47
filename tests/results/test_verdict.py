import pytest
import torch

from smoothpl.results.verdict import verdict

NAMES = ["cat", "dog"]


@pytest.mark.parametrize(
    ("confusion", "words"),
    [
        ([[200, 0], [0, 200]], "Good: right on every test image."),
        ([[198, 2], [6, 194]], "Good: wrong on about 1 of 50 images; weakest on dog, with 194 of 200 right."),
        (
            [[180, 20], [40, 160]],
            "Useful if somebody checks its answers: right on about 85 of 100 images; weakest on dog, with 160 of 200 "
            "right.",
        ),
        ([[140, 60], [50, 150]], "Weak: right on about 72 of 100 images; weakest on cat, with 140 of 200 right."),
        (
            [[100, 100], [100, 100]],
            "No better than guessing: always answering cat would be wrong on 50 % of these images.",
        ),
        (
            [[105, 95], [95, 105]],
            "Not clearly better than guessing: always answering cat would be wrong on 50 % of these images.",
        ),
    ],
)
def test_an_error_is_called_by_its_name(confusion: list[list[int]], words: str) -> None:
    assert verdict(torch.tensor(confusion), NAMES) == words


def test_many_classes_can_be_better_than_guessing_and_still_wrong() -> None:
    confusion = torch.full((10, 10), 6) + torch.diag(torch.full((10,), 40))
    assert verdict(confusion, list("abcdefghij")).startswith("Wrong more often than right: right on about 46 of 100")


def test_a_small_test_says_little() -> None:
    words = verdict(torch.tensor([[5, 0], [1, 4]]), NAMES)
    assert words.endswith("So few test images say little: the error on others may be anywhere from 2 to 40 %.")


def test_classes_without_test_images_are_not_the_weakest() -> None:
    assert "weakest on dog, with 90 of 100" in verdict(
        torch.tensor([[100, 0, 0], [10, 90, 0], [0, 0, 0]]), ["cat", "dog", "x"]
    )
