import signal
from collections.abc import Mapping
from math import exp
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn.functional import batch_norm, cross_entropy

from smoothpl.data import Batch
from smoothpl.errors import ConfigError
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.noise import uniform
from smoothpl.nets.output import Output
from smoothpl.run.build_method import build_method
from tests.support.composing import composed
from tests.support.lives import differences, killer, outcome, resume, run
from tests.support.method_checks import LARGE, SMALL, largest_jump
from tests.support.method_promises import (
    assert_is_read_without_its_heads,
    assert_needs_whole_steps,
    assert_ranks_agree,
    waits,
)
from tests.support.method_steps import assert_follows, gradient, module_and_batches

STEPS, WARM_UP = 60, 20
SOON = f"terms.worst_case.warm_up_steps={WARM_UP}"


def features_of(seen: Mapping[str, Output]) -> list[Tensor]:
    return [each for name in ("labeled", "weak", "strong") if (each := seen[name].features) is not None]


def of_head(module: SemiSupervisedModule, head: str, *layers: str) -> list[tuple[Tensor, Tensor]]:
    """Weight and bias of its layers."""
    known = dict(module.network.named_parameters())
    return [(known[f"heads.{head}.{layer}.weight"], known[f"heads.{head}.{layer}.bias"]) for layer in layers]


def worst(module: SemiSupervisedModule, seen: Mapping[str, Output], reversal: float) -> Tensor:
    features = torch.cat(features_of(seen))
    passed = -reversal * features + ((1 + reversal) * features).detach()
    for number in (("first", "norm1"), ("second", "norm2")):
        (weight, bias), norm = of_head(module, "worst", *number)
        passed = batch_norm(passed @ weight.T + bias, None, None, *norm, training=True).relu()
    ((weight, bias),) = of_head(module, "worst", "classify")
    return passed @ weight.T + bias


@pytest.mark.parametrize("labels", ["hard", "soft"])
def test_one_head_labels_another_learns_and_a_third_errs(labels: str) -> None:
    """CE_l + mean 1[sigma_h > .9] CE(yhat, h_p(s)) + 0.3 (2 CE(yhat_l, h_a(l)) + mean -log(1 - softmax(h_a(w))[yhat])),
    the features below h_a by -0.1 (2 / (1 + exp(-i / T)) - 1) times the gradient."""
    taught = number = 0

    def rule(module: SemiSupervisedModule, batch: Batch, seen: Mapping[str, Output]) -> Tensor:
        nonlocal taught, number
        p = seen["weak"].logits.detach().softmax(1)
        above = (p.amax(1) >= 0.9).float()
        taught += int(above.sum())
        (first, shift), (second, bias) = of_head(module, "pseudo", "widen", "classify")
        hidden = (features_of(seen)[2] @ first.T + shift).relu()
        kept = (uniform(batch.chance["dropout"], hidden.shape[1]) >= 0.5).float()
        learned = (hidden * kept * 2) @ second.T + bias
        erring = worst(module, seen, 0.1 * (2 / (1 + exp(-number / WARM_UP)) - 1))
        number += 1
        of_labeled, of_weak = erring[:4], erring[4 : 4 + len(p)]
        if labels == "hard":
            of_label = seen["labeled"].logits.detach().argmax(1)
            erred = of_weak.softmax(1).gather(1, p.argmax(1, keepdim=True)).squeeze(1)
        else:
            of_label, erred = batch.label, (p * of_weak.softmax(1)).sum(1)
        worst_case = 2 * cross_entropy(of_labeled, of_label) - (1 - erred).log().mean()
        lesson = (above * cross_entropy(learned, p.argmax(1), reduction="none")).mean()
        return cross_entropy(seen["labeled"].logits, batch.label) + lesson + 0.3 * worst_case

    assert_follows(rule, "method=dst", SOON, f"terms.worst_case.labels={labels}", steps=STEPS)
    assert taught > 20


def test_with_one_head_and_without_the_worst_case_it_is_fixmatch() -> None:
    method, batches = module_and_batches(
        "method=dst", "threshold=0.2", "learned_head=null", "terms.worst_case.weight=0"
    )
    other, _ = module_and_batches("method=fixmatch", "threshold=0.2")
    for batch in batches:
        ours, theirs = (each.learn_from_all(batch, each.weighting) for each in (method, other) if each.weighting)
        assert ours["loss"].equal(theirs["loss"])
        shared = gradient(theirs["loss"], other)
        assert gradient(ours["loss"], method)[: len(shared)].equal(shared)  # the other heads come last
    assert (ours["weight"] > 0).any()


def test_the_head_that_labels_learns_from_labels_alone() -> None:
    method, batches = module_and_batches("method=dst", "threshold=0.2")
    batch = next(batches)
    assert method.weighting is not None
    learned = method.learn_from_all(batch, method.weighting)
    assert (learned["weight"] > 0).any()
    own = dict(method.network.named_parameters())["base.classify.weight"]
    (by_all,) = torch.autograd.grad(learned["loss"], own, retain_graph=True)
    (by_labels,) = torch.autograd.grad(learned["labeled_loss"], own)
    assert by_all.equal(by_labels)


def jump(*words: str) -> float:
    """As the network goes from one class to another, of the gradient of what the two other heads say."""
    chance = torch.Generator().manual_seed(0)

    def output(logits: Tensor) -> Output:
        """Features stay where they are, and have a gradient: heads have kinks of their own."""
        learned = logits.repeat(1, 7)[:, :64]
        return Output(logits, learned - learned.detach() + torch.randn(1, 64, generator=chance), {"pseudo": logits})

    def later(module: SemiSupervisedModule) -> None:
        module.terms["worst_case"].get_buffer("steps").fill_(10**7)  # the reversed gradient is there

    views = ("labeled", "weak", "strong")
    words = ("method=dst", "net.width=1", "terms.worst_case.strength=2", *words)
    return largest_jump("weak", views, *words, output=output, prepare=later)


def test_its_threshold_and_its_ties_jump_and_those_of_its_smooth_version_do_not() -> None:
    assert jump("terms.worst_case.weight=0") > LARGE
    assert jump("shape=linear") > LARGE
    assert jump("shape=linear", "terms.worst_case.labels=soft", "smooth=strict") < SMALL
    with pytest.raises(ConfigError, match=r"the shape jumps .*; the labels of the worst case jump"):
        build_method(composed("method=dst", "smooth=strict"))


def test_a_step_never_waits_for_the_device() -> None:
    assert not waits("method=dst")


def test_its_batch_and_its_schedule_need_whole_steps() -> None:
    assert_needs_whole_steps("method=dst")


def test_a_trained_run_is_read_without_its_other_heads(tmp_path: Path) -> None:
    assert_is_read_without_its_heads(tmp_path / "run", "method=dst")


@pytest.mark.processes
def test_two_processes_learn_what_one_does(tmp_path: Path) -> None:
    """Every image has a seed of its own, and the worst head is normalised by the batch of both."""
    assert_ranks_agree(tmp_path, "method=dst", SOON)


@pytest.mark.processes
def test_a_killed_run_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    """Its seeds are those of a step, and how far the gradient is reversed is remembered."""
    words = ("method=dst", SOON, "threshold=0.2", "max_steps=12")
    assert run(tmp_path / "whole", *words).returncode == 0
    assert run(tmp_path / "killed", *words, killer("step", 7)).returncode == -signal.SIGKILL
    assert resume(tmp_path / "killed", "+callbacks.killer=null", "resume_allow=[callbacks.killer]").returncode == 0
    assert differences(outcome(tmp_path / "whole"), outcome(tmp_path / "killed")) == []
