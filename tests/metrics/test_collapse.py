import pytest

from smoothpl.metrics.collapse import COLLAPSED_BELOW, PARTLY_BELOW, State, Turn, next_state, turns_of


@pytest.mark.parametrize(
    ("before", "share", "after"),
    [
        ("unborn", 0.0, "unborn"),
        ("unborn", 0.49, "unborn"),
        ("unborn", PARTLY_BELOW, "alive"),
        ("alive", 0.19, "collapsed"),
        ("alive", 0.49, "partly"),
        ("partly", 0.19, "collapsed"),
        ("partly", 0.49, "partly"),
        ("collapsed", 0.0, "collapsed"),
        ("collapsed", COLLAPSED_BELOW, "recovering"),
        ("collapsed", PARTLY_BELOW, "alive"),
        ("recovering", 0.49, "recovering"),
        ("recovering", 0.0, "collapsed"),
        ("recovering", 1.0, "alive"),
    ],
)
def test_a_class_goes_from_state_to_state_by_its_share(before: State, share: float, after: State) -> None:
    assert next_state(before, share, is_late=False) == after


def test_a_class_that_has_not_come_alive_in_half_of_the_run_has_collapsed() -> None:
    history = [(step, [1.9, 0.1]) for step in (25, 49, 50, 75)]
    assert turns_of(history, max_steps=100) == [Turn(50, 1, "collapsed", 0.1)]


def test_every_change_of_a_class_is_listed_but_for_its_first_coming_alive() -> None:
    shares = [[0.3, 0.0], [1.0, 0.9], [0.4, 1.0], [0.1, 1.0], [0.3, 1.0], [0.3, 1.0], [0.6, 0.1]]
    story = turns_of(enumerate(shares), max_steps=100)
    assert [(turn.step, turn.number, turn.state) for turn in story] == [
        (2, 0, "partly"),
        (3, 0, "collapsed"),
        (4, 0, "recovering"),
        (6, 0, "alive"),
        (6, 1, "collapsed"),
    ]
