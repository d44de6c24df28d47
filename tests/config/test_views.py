import pytest

from smoothpl.config.views import FURTHER_VIEWS, OF_LABELED, OF_OTHERS, num_views
from smoothpl.data import wanted


def test_the_views_that_can_be_asked_for_are_those_that_can_be_made() -> None:
    assert {*FURTHER_VIEWS} == {*wanted.FURTHER_VIEWS}
    assert [name for name, view in wanted.FURTHER_VIEWS.items() if view.of == "labeled"] == [*OF_LABELED]
    assert [name for name, view in wanted.FURTHER_VIEWS.items() if view.of == "others"] == [*OF_OTHERS]


@pytest.mark.parametrize(
    ("learned", "names", "number"),
    [
        (None, [], 0),
        ("weak", [], 1),
        ("strong", [], 2),
        ("weak2", ["weak2"], 2),
        ("strong", ["strong2", "labeled_strong"], 3),
        (None, ["noise"], 1),
        ("strong", ["turn", "mix"], 3),
    ],
)
def test_views_of_unlabeled_images_are_counted(learned: str | None, names: list[str], number: int) -> None:
    assert num_views(learned, names) == number
