import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torchvision.models import resnet50

from smoothpl.nets import WideResNet
from smoothpl.optim import SGDByDepth, WeightDecaySGD, cosine
from smoothpl.run.build import build_module
from tests.nets.finetuning.making import MODES, whole
from tests.support.composing import TINY, composed


def settings(network: torch.nn.Module) -> torch.optim.SGD:
    return WeightDecaySGD(learning_rate=0.03, momentum=0.9, nesterov=True, weight_decay=5e-4)(network)


def by_depth(learning_rate: float = 0.1, decay: float = 0.5, head: float = 0.7) -> SGDByDepth:
    return SGDByDepth(WeightDecaySGD(0.03, 0.9, True, 5e-4), learning_rate, decay, head)


def test_weight_decay_is_on_weights_only() -> None:
    decayed, free = settings(WideResNet(10)).param_groups
    assert (decayed["weight_decay"], free["weight_decay"]) == (5e-4, 0)
    assert all(parameter.ndim in (2, 4) for parameter in decayed["params"])
    # 5,658 in TorchSSL, of which the 192 dead ones are not trained at all.
    assert sum(parameter.numel() for parameter in free["params"]) == 5_658 - 192


def test_no_batch_norm_of_a_resnet_is_decayed() -> None:
    network = resnet50()
    decayed = {id(parameter) for parameter in settings(network).param_groups[0]["params"]}
    norms = [part for part in network.modules() if isinstance(part, torch.nn.BatchNorm2d)]
    assert not any(id(parameter) in decayed for norm in norms for parameter in norm.parameters())


def test_the_step_is_nesterovs() -> None:
    network = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.ones_(network.weight)
    optimizer = settings(network)
    weight, velocity = 1.0, 0.0
    for gradient in (0.5, -0.2, 0.1):
        network.weight.grad = torch.full((1, 1), gradient)
        optimizer.step()
        decayed = gradient + 5e-4 * weight
        velocity = 0.9 * velocity + decayed
        weight -= 0.03 * (decayed + 0.9 * velocity)
    assert math.isclose(network.weight.item(), weight, rel_tol=1e-6)


@pytest.mark.parametrize(
    ("step", "factor"), [(0, 1.0), (8, math.cos(7 * math.pi / 32)), (16, math.cos(7 * math.pi / 16))]
)
def test_the_schedule_is_seven_sixteenths_of_a_cosine(step: int, factor: float) -> None:
    optimizer = settings(torch.nn.Linear(1, 1))
    schedule = cosine(optimizer, max_steps=16)
    for _ in range(step):
        optimizer.step()
        schedule.step()
    assert math.isclose(optimizer.param_groups[0]["lr"], 0.03 * factor)


@pytest.mark.parametrize(
    ("schedule", "factors"), [("to_zero", [1.0, math.sqrt(0.5), 0.0]), ("constant", [1.0, 1.0, 1.0])]
)
def test_the_learning_rate_may_fall_to_nothing_or_stay(schedule: str, factors: list[float]) -> None:
    """At the start, in the middle and at the end of a run."""
    module = build_module(composed(*TINY, f"optim.schedule={schedule}", "max_steps=16"))
    module.trainer = SimpleNamespace(max_steps=16)  # type: ignore[assignment]
    made = module.configure_optimizers()
    rates = []
    for _ in range(17):
        rates.append(made["optimizer"].param_groups[0]["lr"] / 0.03)
        made["optimizer"].step()
        made["lr_scheduler"]["scheduler"].step()
    assert rates[::8] == pytest.approx(factors, abs=1e-9)


def test_a_schedule_by_depth_is_that_of_the_whole() -> None:
    whole_rate = SGDByDepth(WeightDecaySGD(0.03, 0.9, True, 5e-4, "to_zero"), 0.1, 0.5, 0.7)
    assert whole_rate.schedule == "to_zero"


def test_an_unknown_schedule_is_refused() -> None:
    with pytest.raises(ValueError, match=r"optim\.schedule=linear must be one of null, to_zero, constant"):
        WeightDecaySGD(0.03, 0.9, True, 5e-4, "linear")


def test_the_state_of_the_schedule_is_plain_enough_to_be_loaded_with_weights_only(tmp_path: Path) -> None:
    optimizer = settings(torch.nn.Linear(1, 1))
    torch.save(cosine(optimizer, max_steps=16).state_dict(), tmp_path / "state")
    assert torch.load(tmp_path / "state", weights_only=True)["last_epoch"] == 0


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ({"learning_rate": -1}, "optim.learning_rate=-1"),
        ({"weight_decay": math.nan}, "optim.weight_decay=nan"),
        ({"momentum": 1}, "optim.momentum=1 must lie in"),
        ({"momentum": 0}, "optim.nesterov=false"),
    ],
)
def test_impossible_settings_are_refused(setting: dict[str, float], complaint: str) -> None:
    usual = {"learning_rate": 0.03, "momentum": 0.9, "nesterov": True, "weight_decay": 5e-4}
    with pytest.raises(ValueError, match=complaint):
        WeightDecaySGD(**{**usual, **setting})  # type: ignore[arg-type]


def test_plain_sgd_without_momentum_is_possible() -> None:
    optimizer = WeightDecaySGD(0.03, 0.0, False, 0.0)(torch.nn.Linear(1, 1))
    assert optimizer.param_groups[0]["momentum"] == 0


def test_the_last_block_has_the_learning_rate_and_each_before_it_less() -> None:
    network = whole("transformer", "all")
    rates = {id(each): group["lr"] for group in by_depth()(network).param_groups for each in group["params"]}
    found = {name: rates[id(each)] for name, each in network.named_parameters()}
    wanted = {"backbone.norm.": 0.1, "backbone.blocks.2.": 0.1, "backbone.blocks.1.": 0.05, "backbone.blocks.0.": 0.025}
    for name, rate in found.items():
        others = 0.7 if name.startswith("head.") else 0.0125  # before the first block
        assert math.isclose(rate, next((wanted[each] for each in wanted if name.startswith(each)), others)), name


@pytest.mark.parametrize("mode", MODES)
def test_every_weight_that_learns_has_one_rate_and_others_have_none(mode: str) -> None:
    network = whole("resnet", mode)
    held = [id(each) for group in by_depth()(network).param_groups for each in group["params"]]
    assert sorted(held) == sorted(id(each) for each in network.parameters() if each.requires_grad)


def test_adapters_learn_as_fast_as_their_block() -> None:
    network = whole("transformer", "lora")
    rates = {id(each): group["lr"] for group in by_depth()(network).param_groups for each in group["params"]}
    found = {name: rates[id(each)] for name, each in network.named_parameters() if ".qkv.lora_A" in name}
    assert [*found.values()] == pytest.approx([0.025, 0.05, 0.1])


def test_weights_decay_and_norms_do_not_at_any_depth() -> None:
    groups = by_depth()(whole("resnet", "all")).param_groups
    assert {(each.ndim > 1, group["weight_decay"]) for group in groups for each in group["params"]} == {
        *((True, 5e-4), (False, 0.0))
    }


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"learning_rate": -1}, r"^finetune\.learning_rate=-1 must be a number from 0 up\.$"),
        ({"head": "fast"}, r"^finetune\.head_learning_rate=fast must be a number from 0 up\.$"),
        ({"decay": 0}, r"^finetune\.decay=0 must lie in \(0, 1\]"),
        ({"decay": 1.5}, r"^finetune\.decay=1\.5 must lie in"),
    ],
)
def test_rates_by_depth_that_cannot_be_are_refused(knobs: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        by_depth(**knobs)
