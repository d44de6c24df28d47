import math
from pathlib import Path

import pytest
import torch
from torchvision.models import resnet50

from smoothpl.nets import WideResNet
from smoothpl.optim import WeightDecaySGD, cosine


def settings(network: torch.nn.Module) -> torch.optim.SGD:
    return WeightDecaySGD(learning_rate=0.03, momentum=0.9, nesterov=True, weight_decay=5e-4)(network)


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
