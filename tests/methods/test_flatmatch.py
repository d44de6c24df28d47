from collections.abc import Mapping
from itertools import product
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import cross_entropy, one_hot

from smoothpl.data import Batch
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets.output import Output
from tests.support.composing import SMALL
from tests.support.lives import run
from tests.support.method_checks import loss_of
from tests.support.method_promises import waits
from tests.support.method_steps import assert_follows, gradient, module_and_batches, sharpen_last_layer
from tests.test_ddp import TWO

QUICK = ("policy.momentum=0.9", "fairness.momentum=0.9")  # thresholds that are reached within a test
SMOOTH = ("shape=linear", "threshold_floor=0.5", "fairness.counts=soft", "ascent.softening=1e-12", "smooth=strict")


def test_all_is_learned_where_labels_are_learned_worst_and_judged_where_one_stands() -> None:
    """g = grad CE_l(theta), theta' = theta + 0.05 g/|g|; the step is g + grad of CE_l + mean 1[sigma > tau level_c /
    max level] CE(yhat, z_s) + 0.01 sum p log q at theta', with sigma, yhat and all means of theta."""
    level, share, count = torch.tensor(0.1), torch.full((10,), 0.1), torch.full((10,), 0.1)
    sides: list[bool] = []

    def rule(module: SemiSupervisedModule, batch: Batch, _: Mapping[str, Output]) -> Tensor:
        assert batch.strong is not None
        network, sizes = module.network, [len(batch.labeled), len(batch.weak), len(batch.weak)]
        images = torch.cat([batch.labeled, batch.weak, batch.strong])

        def look(parameters: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
            still = {name: each.clone() for name, each in network.named_buffers()}
            return functional_call(network, {**parameters, **still}, images).split(sizes)  # type: ignore[no-any-return]

        theta = {name: each for name, each in network.named_parameters() if each.requires_grad}
        labeled, weak, _strong = look(theta)
        here = cross_entropy(labeled, batch.label)
        g = torch.autograd.grad(here, [*theta.values()], retain_graph=True)
        scale = 0.05 / torch.cat([each.flatten() for each in g]).norm()
        labeled, _weak, strong = look(
            {name: each.clone().add_(scale * slope) for (name, each), slope in zip(theta.items(), g, strict=True)}
        )

        probabilities = weak.detach().softmax(1)
        sigma, yhat = probabilities.max(1)
        level.mul_(0.9).add_(0.1 * sigma.mean())
        share.mul_(0.9).add_(0.1 * probabilities.mean(0))
        count.mul_(0.9).add_(0.1 * one_hot(yhat, 10).float().mean(0))
        mask = sigma > (level * share / share.max())[yhat]
        sides.extend(mask.tolist())
        lesson = (mask * cross_entropy(strong, yhat, reduction="none")).mean()
        p = share / count
        chosen = strong.softmax(1)[mask]
        votes = one_hot(chosen.argmax(1), 10).sum(0)
        q = torch.where(votes > 0, chosen.sum(0) / votes.clamp(min=1), 0)
        fairness = (p / p.sum() * (q / q.sum() + 1e-12).log()).sum()
        return here + cross_entropy(labeled, batch.label) + lesson + 0.01 * fairness

    assert_follows(rule, "method=flatmatch", *QUICK, steps=80)
    assert min(sides.count(True), sides.count(False)) > 200


def test_where_it_stays_it_is_freematch_with_labels_counted_twice() -> None:
    module, batches = module_and_batches("method=flatmatch", "ascent.rho=0", *QUICK)
    other, _ = module_and_batches("method=freematch", "labeled_weight=2.0", *QUICK)
    for each in (module, other):
        sharpen_last_layer(each, 8.0)
    for batch in batches:
        ours, theirs = loss_of(module, batch), loss_of(other, batch)
        assert ours.equal(theirs)
        found = gradient(ours, module), gradient(theirs, other)
        torch.testing.assert_close(*found, rtol=1e-4, atol=1e-5 * float(found[1].abs().max()))
    for name, value in other.network.state_dict().items():  # BatchNorm's statistics, too
        assert module.network.state_dict()[name].equal(value), name


def test_nothing_is_edited_and_running_statistics_rest_at_the_second_look() -> None:
    module, batches = module_and_batches("method=flatmatch")
    other, _ = module_and_batches("method=flatmatch")
    batch = next(batches)
    loss_of(module, batch)
    other.look(batch)
    for name, value in other.network.state_dict().items():
        assert module.network.state_dict()[name].equal(value), name


def largest_jump(*words: str) -> float:
    """Of the gradient by the strong views, as the weak one goes through a threshold and from one class to another."""
    module, _ = module_and_batches("method=flatmatch", *words)
    assert module.weighting is not None
    module.network = nn.Linear(10, 10, bias=False)
    nn.init.eye_(module.network.weight)
    chance, worst = torch.Generator().manual_seed(3), 0.0
    way = torch.linspace(0, 1, 5001).unsqueeze(1)
    for first, second in product(range(2), range(3, 5)):
        module.weighting.policy.level.fill_(0.7)  # type: ignore[operator]
        ends = 0.3 * torch.randn(2, 10, generator=chance)
        ends[0, first], ends[1, second] = 7, 7
        weak = (1 - way) * ends[0] + way * ends[1]
        strong = torch.randn(10, generator=chance).expand_as(weak).clone().requires_grad_()
        labeled = torch.randn(8, 10, generator=chance)
        batch = Batch(labeled, torch.arange(8), weak, strong, torch.zeros(len(weak), dtype=torch.long))
        (slope,) = torch.autograd.grad(loss_of(module, batch), strong)
        worst = max(worst, len(weak) * slope.diff(dim=0).abs().max().item())
    return worst


def test_its_thresholds_and_ties_jump_and_those_of_its_smooth_version_do_not() -> None:
    assert largest_jump() > 0.05
    assert largest_jump(*SMOOTH) < 0.005


def test_a_step_never_waits_for_the_device() -> None:
    assert not waits("method=flatmatch")


def test_what_it_remembers_is_all_that_the_next_step_depends_on() -> None:
    module, batches = module_and_batches("method=flatmatch", *QUICK)
    for _, batch in zip(range(3), batches, strict=False):
        loss_of(module, batch)
    other, _ = module_and_batches("method=flatmatch", *QUICK)
    other.load_state_dict(module.state_dict())
    batch = next(batches)
    assert gradient(loss_of(module, batch), module).equal(gradient(loss_of(other, batch), other))


@pytest.mark.parametrize("words", [(), ("forward=apart",), ("teacher=average",), (*SMALL,), (*SMALL, "net=mlp")])
def test_it_learns_in_every_way_that_goes_with_it(words: tuple[str, ...]) -> None:
    module, batches = module_and_batches("method=flatmatch", *words)
    slope = gradient(loss_of(module, next(batches)), module)
    assert slope.isfinite().all()
    assert slope.abs().max() > 0


@pytest.mark.processes
def test_two_processes_go_up_the_slope_of_both(tmp_path: Path) -> None:
    """Were each to go up its own, their losses and then their weights would differ, by 2e-3 after two steps; later ones
    multiply what rounding has done."""
    states = []
    steps = [f"{knob}=2" for knob in ("max_steps", "eval_every", "checkpoint_every")]
    words = ("method=flatmatch", "batch_size=8", *steps, "optim.learning_rate=0.001", "ascent.rho=0.5")
    for name, ranks in (("one", ()), ("two", TWO)):
        done = run(tmp_path / name, *words, "pictures=false", *ranks)
        assert done.returncode == 0, done.stderr
        states.append(torch.load(tmp_path / name / "last.ckpt", weights_only=True)["state_dict"])
    for key, tensor in states[0].items():
        torch.testing.assert_close(states[1][key], tensor, rtol=1e-4, atol=1e-4)
