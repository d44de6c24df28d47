from collections import Counter
from collections.abc import Mapping

import pytest
import torch
from torch.nn.functional import cross_entropy

from smoothpl.data import Batch
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.output import Output
from smoothpl.terms import Meaning, Negative, Term
from tests.support.composing import SMALL as SMALL_BACKBONE
from tests.support.method_checks import (
    LARGE,
    SMALL,
    assert_same_losses,
    largest_jump,
    loss_of,
    step_of,
    waits_in_a_step,
)
from tests.support.method_promises import assert_needs_whole_steps
from tests.support.method_steps import assert_follows, gradient, module_and_batches

STEPS, TAU = 100, 0.6
HALF_SURE = f"threshold={TAU}"  # an untrained network is on both sides of it, and of its square
FEW = "unlabeled_ratio=1"  # images of a step, so that k is not always that of the worst of many
VIEWS = ("labeled", "weak", "strong")
SOFT = ("shape=linear", "terms.negative.ranks=soft", "terms.meaning.ranks=soft", "smooth=strict")


def test_classes_out_of_the_question_are_taught_not_to_be_and_the_others_share_what_is_left() -> None:
    """FixMatch + mean_i sum_{c beyond k, p_s,c <= tau^2} -log(1 - p_s,c) + the mean over c within k but the label, of
    images above tau and with p_s,c <= tau^2, of BCE(t_i, p_s,c), t_i = (1 - mass of label and classes beyond)/(k-1)."""
    numbers, seen_sides = Counter[int](), Counter[str]()

    def rule(_: SemiSupervisedModule, batch: Batch, seen: Mapping[str, Output]) -> torch.Tensor:
        labeled, weak, strong = (seen[view].logits for view in VIEWS)
        p_w, p_s = weak.detach().softmax(1), strong.softmax(1)
        sigma, yhat = p_w.max(1)
        for k in range(2, 11):
            if all(int(y) in row.topk(k).indices for y, row in zip(yhat, p_s.detach(), strict=True)):
                break
        numbers[k] += 1
        negative, entropies = torch.tensor(0.0), []
        for i, y in enumerate(yhat.tolist()):
            first = p_w[i].topk(k).indices.tolist()
            beyond = [c for c in range(10) if c not in first]
            left = 1 - p_s[i, [y, *beyond]].sum() + 1e-7
            for c in range(10):
                p, q = p_s[i, c], 1 - p_s[i, c]
                seen_sides["sure" if p > TAU**2 else "open"] += 1
                if p > TAU**2 or c == y:
                    continue
                if c in beyond:
                    negative = negative - (q + 1e-10).log() / len(yhat)
                elif sigma[i] > TAU:
                    t = left / (k - 1)
                    entropies.append(-t * (p + 1e-10).log() - (1 - t) * (q + 1e-10).log())
        meaning = torch.stack(entropies).mean() if entropies else torch.tensor(0.0)
        seen_sides["meant"] += len(entropies)
        lesson = ((sigma > TAU) * cross_entropy(strong, yhat, reduction="none")).mean()
        return cross_entropy(labeled, batch.label) + lesson + negative + meaning

    assert_follows(rule, "method=fullmatch", HALF_SURE, FEW, steps=STEPS)
    assert sum(count >= 5 for count in numbers.values()) >= 4
    assert seen_sides["sure"] > 50
    assert seen_sides["meant"] > 200


def test_without_its_terms_it_is_fixmatch() -> None:
    without = ("terms.negative.weight=0", "terms.meaning.weight=0")
    assert_same_losses(("method=fullmatch", HALF_SURE, *without), ("method=fixmatch", HALF_SURE))


def test_its_thresholds_ranks_and_cuts_jump_and_those_of_its_smooth_version_do_not() -> None:
    """Along ways of the weak view, and along those of the strong one, by which the loss itself jumps."""
    for moving in ("weak", "strong"):
        assert largest_jump(moving, VIEWS, "method=fullmatch") > LARGE
        assert largest_jump(moving, VIEWS, "method=fullmatch", *SOFT) < SMALL


def test_a_step_does_not_wait_for_the_device() -> None:
    assert not waits_in_a_step("method=fullmatch")
    assert not waits_in_a_step("method=fullmatch", *SOFT)


def test_its_number_of_classes_needs_whole_steps() -> None:
    assert_needs_whole_steps("method=fullmatch")


def test_it_learns_from_features_softly_too() -> None:
    module, batches = module_and_batches("method=fullmatch", *SMALL_BACKBONE, *SOFT, "threshold=0.5")
    torch.nn.init.normal_(next(module.network.parameters()))
    slope = gradient(loss_of(module, next(batches)), module)
    assert slope.isfinite().all()
    assert slope.abs().max() > 0


@pytest.mark.parametrize("term", [Negative(TAU), Meaning(TAU), Negative(TAU, ranks="soft"), Meaning(TAU, ranks="soft")])
def test_two_ranks_have_the_loss_of_one(term: Term, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one rank tells the other depends on what it was told: they are asked until both are agreed."""
    chance = torch.Generator().manual_seed(5)
    weak, strong = 3 * torch.randn(2, 8, 6, generator=chance)
    weight = torch.tensor([1, 1, 0, 1, 0, 0, 0, 1.0])
    whole = term(step_of(weak=weak, strong=strong)._replace(weight=weight))
    before: list[list[torch.Tensor]] = [[], []]
    for _ in range(3):
        told, losses = [list[torch.Tensor](), list[torch.Tensor]()], []
        for rank, own in enumerate(told):

            def of_all(
                part: torch.Tensor, own: list[torch.Tensor] = own, before: list[list[torch.Tensor]] = before
            ) -> torch.Tensor:
                own.append(part)
                return torch.cat([each[len(own) - 1] if len(each) >= len(own) else part for each in before])

            for module in ("top_classes", "meaning"):
                monkeypatch.setattr(f"smoothpl.terms.{module}.of_all_ranks", of_all)
            monkeypatch.setattr("smoothpl.terms.meaning.num_ranks", lambda: 2)
            mine = step_of(weak=weak.chunk(2)[rank], strong=strong.chunk(2)[rank])
            losses.append(term(mine._replace(weight=weight.chunk(2)[rank])))
        before = told
    torch.testing.assert_close(torch.stack(losses).mean(), whole)
