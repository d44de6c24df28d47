from copy import deepcopy

import pytest
import torch

from smoothpl.errors import ConfigError
from smoothpl.pseudo.labels import Beliefs, from_probabilities
from smoothpl.pseudo.ledger_alignment import LedgerAlignment
from tests.support.steps import CLASSES, IMAGES, random_steps

COUNTS = torch.full((CLASSES,), 4)


def prepared(**knobs: float) -> LedgerAlignment:
    part = LedgerAlignment(CLASSES, max_steps=20, start=0.5, every=3, **knobs)  # type: ignore[arg-type]
    part.prepare(COUNTS)
    part.prepare_images(IMAGES, int(COUNTS.sum()))
    return part


def test_rows_are_those_of_the_last_alignment_and_before_the_first_beliefs_stay() -> None:
    part = prepared()
    for number, beliefs in enumerate(random_steps(17)):
        before = part.aligned.clone()
        part.see(beliefs)
        pseudo = beliefs.unlabeled
        refined = part.refine(pseudo.probabilities, None, pseudo.image)
        assert pseudo.image is not None
        assert part.aligned.equal(before) == (number not in (10, 13, 16))
        assert refined.equal(pseudo.probabilities if number < 10 else part.aligned[pseudo.image])
    assert part.refine(pseudo.probabilities, None, None) is pseudo.probabilities


def test_of_an_image_that_comes_twice_the_last_belief_is_kept() -> None:
    part, probabilities = prepared(), torch.rand(4, CLASSES).softmax(1)
    pseudo = from_probabilities(probabilities, torch.tensor([5, 2, 5, 5]))
    part.see(Beliefs(pseudo, probabilities, torch.zeros(4, dtype=torch.long)))
    assert part.ledger[5].equal(probabilities[3])
    assert part.ledger[2].equal(probabilities[1])
    assert (part.ledger[[0, 1, 3, 4]] == 1 / CLASSES).all()


def test_it_goes_on_after_a_checkpoint_as_if_there_had_been_none() -> None:
    one, other = prepared(), prepared()
    steps = list(random_steps(17))
    for beliefs in steps[:11]:
        one.see(beliefs)
    other.load_state_dict(deepcopy(one.state_dict()))
    other.prepare_images(IMAGES, int(COUNTS.sum()))
    for beliefs in steps[11:]:
        for part in (one, other):
            part.see(beliefs)
    assert one.aligned.equal(other.aligned)
    assert one.state_dict()["_extra_state"].equal(other.state_dict()["_extra_state"])
    other.prepare_images(IMAGES + 1, int(COUNTS.sum()))
    assert (other.ledger == 1 / CLASSES).all()


@pytest.mark.parametrize("knobs", [{"start": 1.5}, {"every": 0}, {"rounds": 0}, {"keep": 0}])
def test_numbers_out_of_range_are_refused(knobs: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=rf"refine.ledger_alignment.*{next(iter(knobs))}="):
        LedgerAlignment(CLASSES, max_steps=10, **knobs)  # type: ignore[arg-type]


def test_a_class_without_labels_has_no_size() -> None:
    with pytest.raises(ConfigError, match="class 3 has none"):
        prepared().prepare(torch.tensor([1, 1, 1, 0] + [1] * (CLASSES - 4)))


def test_a_ledger_that_is_too_large_is_refused_with_its_size_and_the_way_out() -> None:
    part = LedgerAlignment(1000, max_steps=10)
    with pytest.raises(ConfigError, match=r"1,281,167 images x 1,000 classes twice, 9.5 GB; use refine=\[dual_align"):
        part.prepare_images(1281167, 10)
