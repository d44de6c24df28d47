import pytest

from smoothpl.config.compose import compose_checked
from smoothpl.run.method_cost import Cost, cost_of

COUNTED = {
    "fixmatch": Cost(0, 0, labeled=1, unlabeled=2, backward=2),
    "fixmatch forward=split": Cost(0, 0, labeled=1, unlabeled=2, backward=1),
    "pseudo_label": Cost(0, 0, labeled=1, unlabeled=1, backward=1),
    "flexmatch": Cost(2, 10, labeled=1, unlabeled=2, backward=2),  # a class, and a weight for soft counts
    "vat": Cost(0, 1, labeled=1, unlabeled=3, backward=3),
    "comatch": Cost(0, 6264, labeled=1, unlabeled=3, backward=3),
    "mean_teacher": Cost(0, 1, labeled=1, unlabeled=2, backward=1),
    "mixmatch": Cost(0, 1, labeled=2, unlabeled=4, backward=2),
}


@pytest.mark.parametrize("words", COUNTED)
def test_what_a_method_keeps_and_how_often_it_looks_is_counted(words: str) -> None:
    assert (
        cost_of(compose_checked([f"method={words.split()[0]}", *words.split()[1:], "batch_size=2"])) == COUNTED[words]
    )


def test_a_cost_is_two_sentences() -> None:
    assert (
        str(Cost(0, 0, 1, 2, 2))
        == "Keeps nothing. A step looks at each labeled image once, at each unlabeled one twice."
    )
    assert str(Cost(1, 20, 2, 4, 2)) == (
        "Keeps 1 number for each unlabeled image and 20 more. A step looks at each labeled image twice, at each "
        "unlabeled one 4 times, twice of these without a gradient."
    )
