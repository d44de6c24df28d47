import pytest
import torch

from smoothpl import ranks
from smoothpl.data.batches import Steps
from smoothpl.data.wanted import FURTHER_CHANCE
from smoothpl.errors import ConfigError
from smoothpl.pseudo import Fixed, Hard, Power, Soft, Weighting
from smoothpl.run.build import build_data
from smoothpl.run.build_method import build_method
from smoothpl.terms.balanced import Balanced, own_rows
from tests.support.composing import TINY, composed


def test_every_rank_has_the_masks_of_its_own_images(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, shares = torch.arange(12.0), []
    monkeypatch.setattr(ranks, "num_ranks", lambda: 2)
    for rank in range(2):
        monkeypatch.setattr(torch.distributed, "get_rank", lambda rank=rank: rank)
        shares.append([each.tolist() for each in own_rows(drawn, [2, 4])])
    assert shares == [[[0, 1], [4, 5, 6, 7]], [[2, 3], [8, 9, 10, 11]]]


def test_the_loader_draws_for_the_whole_step_and_every_rank_gets_all_of_it() -> None:
    assert not FURTHER_CHANCE["balance"].by_image
    data = build_data(composed(*TINY, "method=abc"))
    data.setup("fit")
    settings = (data.source.train, data.fold, data.views, 4, 7, 4, 1)
    one, two = (Steps(*settings, 0, 1, wanted=["balance"]), Steps(*settings, 1, 2, wanted=["balance"]))
    assert len(one[3].chance["balance"]) == 32
    assert one[3].chance["balance"].equal(two[3].chance["balance"])


def test_rarity_is_how_many_labels_the_rarest_class_has_of_those_of_a_class() -> None:
    term = Balanced(10, Soft())
    term.prepare(100, torch.tensor([8, 4, 2]))
    assert term.rarity.tolist() == [0.25, 0.5, 1]


def test_masks_that_are_not_drawn_need_no_chance() -> None:
    assert "balance" in Balanced(10, Soft()).needs
    assert "balance" not in Balanced(10, Soft(), masks="expected").needs
    with pytest.raises(ConfigError, match=r"terms\.balanced needs balance, which method=abc does not have"):
        build_method(composed("method=abc", "views_wanted=[strong2]"))


def test_only_what_weighs_where_two_classes_tie_is_an_obstacle() -> None:
    weighting = Weighting(Fixed(0.95), Power())
    for threshold, masks, target, obstacles in (
        (0.95, "drawn", Hard(), 0),
        (0.4, "drawn", Soft(), 1),
        (0.4, "expected", Hard(), 1),
        (0.4, "expected", Soft(), 0),
    ):
        term = Balanced(10, target, threshold, masks)
        assert len(term.obstacles(weighting)) == obstacles


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"masks": "half"}, r"terms\.balanced\.masks=half must be drawn \(as published\) or expected"),
        ({"threshold": 1.0}, r"terms\.balanced\.threshold=1\.0 must lie between 0 and 1"),
    ],
)
def test_settings_without_a_meaning_are_refused(settings: dict[str, object], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        Balanced(10, Soft(), **settings)  # type: ignore[arg-type]
