import pytest

from smoothpl.errors import ConfigError
from smoothpl.run.build_method import build_method
from tests.support.composing import composed


def test_labels_alone_have_no_parts() -> None:
    method = build_method(composed("method=supervised"))
    assert (method.weighting, [*method.terms], method.remembers) == (None, [], False)


def test_the_lesson_comes_first_and_other_terms_follow_in_their_order() -> None:
    method = build_method(composed("method=freematch", "shape=linear", "factor_weight=0.1"))
    assert [*method.terms] == ["lesson", "factor", "fairness"]
    assert method.remembers


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("method=mixmatch views_wanted=[mix]", r"teacher needs weak2, which method=mixmatch does not have; add it to"),
        ("method=mixmatch ~views_wanted views_wanted=[weak2]", r"mix needs mix, which method=mixmatch does not have"),
        ("method=mixmatch accumulate=2", r"accumulate=2: the memory of method=mixmatch is made for whole steps"),
        ("method=mixmatch ~ramp accumulate=2", r"accumulate=2: method=mixmatch compares the images of a whole step"),
        ("method=fixmatch smooth=strict", r"smooth=strict, but the loss is not C1: the shape jumps"),
        ("method=fixmatch factor_weight=0.1", r"factor_weight=0.1 has no effect with a shape that jumps"),
    ],
)
def test_what_cannot_work_is_refused_with_the_way_out(words: str, rule: str) -> None:
    with pytest.raises(ConfigError, match=rule):
        build_method(composed(*(word for word in words.split() if not word.startswith("~views"))))
