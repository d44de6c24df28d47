from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
import torch

from smoothpl.callbacks import CoverageWatch
from smoothpl.config.recipe import recipe_digest
from smoothpl.errors import ConfigError
from smoothpl.metrics.coverage import Alarm
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets import LinearHead
from smoothpl.pseudo.train_step import Taught
from tests.support.composing import composed

NAMES = ["cat", "dog", "owl"]
NOTHING = torch.zeros(6)


def step(watch: CoverageWatch, number: int, weight: torch.Tensor, network: Any = None) -> Mock:
    label = torch.arange(len(weight)) % 3
    module = Mock(spec=SemiSupervisedModule, taught=Taught(label, weight, weight, label))
    module.ends_step.return_value = True
    module.network = module.average = network
    data = SimpleNamespace(source=SimpleNamespace(class_names=NAMES))
    trainer = Mock(datamodule=data, global_step=number, is_global_zero=True, should_stop=False)
    watch.on_train_batch_end(trainer, module, None, None, number)
    return trainer


def test_an_alarm_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    watch = CoverageWatch(every=2, bound=0.05)
    for number in range(1, 7):
        assert not step(watch, number, NOTHING).should_stop
    assert " ".join(capsys.readouterr().out.split()) == (
        "step 4: COVERAGE stays low: 0.00% of the unlabeled images count; the unlabeled images teach nothing: try a "
        "lower threshold, policy=relative, or head.init=probe."
    )
    assert watch.story.alarms == [Alarm(4, "low", 0.0, [])]


def test_a_class_that_gets_no_pseudo_labels_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    watch = CoverageWatch(every=1)
    for number in range(1, 4):
        step(watch, number, torch.tensor([1.0, 0.0, 0.5, 0.0, 0.0, 0.0]))
    assert "step 2: NO PSEUDO-LABELS for dog; label more of them" in capsys.readouterr().out


def test_it_can_stop_the_run() -> None:
    watch = CoverageWatch(every=1, action="stop")
    assert [step(watch, number, NOTHING).should_stop for number in (1, 2)] == [False, True]
    assert str(watch.interruption).startswith("COVERAGE stays low")


def test_a_repair_lowers_the_temperature_of_live_and_averaged_head(capsys: pytest.CaptureFixture[str]) -> None:
    watch, head = CoverageWatch(every=1, action="repair"), LinearHead(4, 3)
    head.temperature.fill_(3.0)
    for number in (1, 2):
        step(watch, number, NOTHING, head)
    assert float(head.temperature) == 0.75  # halved twice: here both networks are the same one
    assert "head.temperature is 0.75 from now on" in capsys.readouterr().out


def test_a_network_without_a_temperature_cannot_be_repaired() -> None:
    watch = CoverageWatch(every=1, action="repair")
    with pytest.raises(ConfigError, match="action=repair lowers the temperature of a head, and this network has none"):
        watch.on_fit_start(Mock(), Mock(spec=SemiSupervisedModule, network=torch.nn.Linear(1, 1)))


def test_labels_alone_cover_nothing_and_that_is_no_alarm() -> None:
    watch = CoverageWatch(every=1)
    for number in range(1, 4):
        watch.on_train_batch_end(Mock(global_step=number), Mock(spec=SemiSupervisedModule, taught=None), None, None, 0)
    assert watch.story.alarms == []


def test_what_was_counted_survives_a_checkpoint() -> None:
    watch, other = CoverageWatch(every=2, bound=0.05), CoverageWatch(every=2, bound=0.05)
    for number in (1, 2, 3):
        step(watch, number, NOTHING)
    other.load_state_dict(watch.state_dict())
    for each in (watch, other):
        step(each, 4, torch.tensor([1.0, 0, 0, 0, 0, 0]))
        step(each, 5, NOTHING)
        step(each, 6, NOTHING)
    assert watch.story.alarms == other.story.alarms
    assert watch.state_dict()["quiet"] == other.state_dict()["quiet"]


@pytest.mark.parametrize(("knob", "value"), [("action", "panic"), ("bound", 1.5), ("bound", -0.1)])
def test_bad_settings_are_refused(knob: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"callbacks\.coverage\.{knob}={value} must"):
        CoverageWatch(every=1, **{knob: value})


def test_only_a_repair_is_part_of_a_recipe() -> None:
    plain, stop, repair = (
        recipe_digest(composed(*words))
        for words in ((), ("callbacks.coverage.action=stop",), ("callbacks.coverage.action=repair",))
    )
    assert plain == stop != repair
