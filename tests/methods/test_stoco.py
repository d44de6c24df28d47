from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from torch.nn.functional import cross_entropy, log_softmax

from smoothpl.data import Batch
from smoothpl.errors import ConfigError
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.noise import normal
from smoothpl.nets.output import Output
from smoothpl.run.build_method import build_method
from tests.support.composing import composed
from tests.support.method_checks import LARGE, SMALL, largest_jump
from tests.support.method_promises import (
    assert_is_read_without_its_heads,
    assert_needs_whole_steps,
    assert_ranks_agree,
    waits,
)
from tests.support.method_steps import assert_follows, gradient, module_and_batches

STEPS = 60


def test_draws_must_agree_and_their_mean_is_taught_evened_out() -> None:
    """Weights M + S eps; mean 1[max_c prod_k p_k,c >= 0.95] CE(q, z_s), q_ic ~ pbar_ic / sqrt(sum_i pbar_ic)."""
    taught = by_mean_alone = 0

    def rule(module: SemiSupervisedModule, batch: Batch, seen: Mapping[str, Output]) -> torch.Tensor:
        nonlocal taught, by_mean_alone
        state = dict(module.network.named_parameters())
        mean, bias = state["base.classify.weight"], state["base.classify.bias"]
        deviation = state["heads.stochastic.deviation"]
        drawn = [mean + deviation * normal(batch.chance["heads"], mean.shape, draw) for draw in range(5)]

        def logits(view: str, draw: int = 0) -> torch.Tensor:
            features = seen[view].features
            assert features is not None
            return features @ drawn[draw].T + bias

        p = torch.stack([logits("weak", draw).detach().softmax(1) for draw in range(5)])
        above = (p.prod(0).amax(1) >= 0.95).float()
        taught += int(above.sum())
        by_mean_alone += int((p.mean(0).amax(1) >= 0.95).sum()) - int(above.sum())
        q = p.mean(0) / p.mean(0).sum(0).sqrt()
        q = q / q.sum(1, keepdim=True)
        lesson = -(above * (q * log_softmax(logits("strong"), 1)).sum(1)).mean()
        return cross_entropy(logits("labeled"), batch.label) + lesson

    assert_follows(rule, "method=stoco", "extra_heads.stochastic.head.deviation=0.1", steps=STEPS, scale=16.0)
    assert taught > 20
    assert by_mean_alone > 20  # as many would be taught if draws need not agree


def test_without_deviations_and_with_one_draw_it_is_fixmatch_with_that_target() -> None:
    still = ("extra_heads.stochastic.head.deviation=0", "teacher.draws=1", "threshold=0.2")
    method, batches = module_and_batches("method=stoco", *still)
    other, _ = module_and_batches("method=fixmatch", "target=soft", "refine=[depict]", "threshold=0.2")
    for batch in batches:
        ours, theirs = (each.learn_from_all(batch, each.weighting) for each in (method, other) if each.weighting)
        assert ours["loss"].equal(theirs["loss"])
        assert ours["weight"].equal(theirs["weight"])
        shared = gradient(theirs["loss"], other)
        assert gradient(ours["loss"], method)[: len(shared)].equal(shared)  # the deviations come last
    assert (ours["weight"] > 0).any()


def test_noise_is_that_of_the_step_and_of_nothing_else() -> None:
    (one, batches), (other, again) = (module_and_batches("method=stoco", "seed=3") for _ in range(2))
    torch.manual_seed(99)
    first = [batch for _, batch in zip(range(2), batches, strict=False)]
    assert not first[0].chance["heads"].equal(first[1].chance["heads"])
    for batch, same in zip(first, again, strict=False):
        assert one.look(batch)["strong"].logits.equal(other.look(same)["strong"].logits)


def jump(*words: str) -> float:
    """As the mean of the draws goes from one class to another."""
    features, seed = torch.randn(1, 64, generator=torch.Generator().manual_seed(0)), torch.tensor([5])
    noise = 0.05 * normal(seed, (10, 64))

    def output(logits: torch.Tensor) -> Output:
        return Output(logits + features @ noise.T, features.expand(len(logits), -1), {"stochastic": logits})

    views = ("labeled", "weak", "strong")
    deviation = "extra_heads.stochastic.head.deviation=0.05"
    return largest_jump("weak", views, "method=stoco", deviation, *words, output=output, chance={"heads": seed})


@pytest.mark.parametrize("threshold", [0.95, 0.3])
def test_its_threshold_jumps_and_that_of_its_smooth_version_does_not(threshold: float) -> None:
    words = (f"threshold={threshold}", "net.width=1")
    assert jump(*words) > LARGE
    assert jump(*words, "shape=linear", "smooth=strict") < SMALL
    with pytest.raises(ConfigError, match="not C1: the shape jumps at the threshold"):
        build_method(composed("method=stoco", "smooth=strict"))


def test_a_step_never_waits_for_the_device() -> None:
    assert not waits("method=stoco")


def test_its_target_needs_whole_steps() -> None:
    assert_needs_whole_steps("method=stoco")


@pytest.mark.parametrize("words", ["score=consensus", "extra_heads=[stochastic]", "teacher=ensemble"])
def test_parts_that_lack_another_are_refused(words: str) -> None:
    with pytest.raises(ConfigError, match=r"use teacher=ensemble|needs heads|needs .*stochastic"):
        build_method(composed("method=fixmatch", words))


def test_a_trained_run_is_read_without_its_deviations(tmp_path: Path) -> None:
    assert_is_read_without_its_heads(tmp_path / "run", "method=stoco")


@pytest.mark.processes
def test_two_processes_learn_what_one_does(tmp_path: Path) -> None:
    """One noise for both, and what is taught is evened out over the batch of both."""
    assert_ranks_agree(tmp_path, "method=stoco", "teacher.draws=2")
