"""SimCLR on all images first, and what was learned as the start of a method (as SelfMatch has it)."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import torch

from smoothpl.data import Batch
from smoothpl.errors import ConfigError
from smoothpl.module import SemiSupervisedModule
from smoothpl.nets import WideResNet
from smoothpl.nets.output import Output
from smoothpl.run.build import build_module
from smoothpl.run.build_method import build_method
from smoothpl.run.training import train
from tests.support.composing import SMALL, TINY, composed
from tests.support.method_checks import loss_of
from tests.support.method_promises import assert_needs_whole_steps, waits
from tests.support.method_steps import assert_follows, gradient, module_and_batches

SIMCLR = (
    "method=fixmatch",
    "policy=all",
    "target=soft",
    "learned_view=null",
    "labeled_weight=0.0",
    "unlabeled_weight=0.0",
    "extra_heads=[projection]",
    "terms=[contrast]",
    "views_wanted=[simclr,simclr2]",
)


def test_views_of_an_image_attract_each_other_and_no_label_is_learned() -> None:
    def rule(_: SemiSupervisedModule, batch: Batch, seen: Mapping[str, Output]) -> torch.Tensor:
        views = torch.cat([seen[name].heads["projection"] for name in ("simclr", "simclr2")])
        near = (views @ views.T / 0.5).exp()
        near = near - near.diag().diag()
        partner = torch.arange(len(views)).roll(len(batch.weak))
        return -(near[torch.arange(len(views)), partner] / near.sum(1)).log().mean()

    assert_follows(rule, *SIMCLR, steps=20)


def test_it_is_smooth_does_not_wait_and_needs_whole_steps() -> None:
    build_method(composed(*SIMCLR, "smooth=strict"))
    assert not waits(*SIMCLR)
    assert_needs_whole_steps(*SIMCLR)


def test_it_learns_from_features_too() -> None:
    module, batches = module_and_batches(*SIMCLR, *SMALL)
    assert gradient(loss_of(module, next(batches)), module).abs().max() > 0


def test_a_run_starts_from_the_network_of_another_one_without_its_heads(tmp_path: Path) -> None:
    train(composed(*TINY, *SIMCLR, "pictures=false"), tmp_path / "first")
    file = tmp_path / "first" / "last.ckpt"
    learned = torch.load(file, weights_only=True)["state_dict"]
    config = composed(*TINY, "method=fixmatch", f"net.init_from={file}", "pictures=false")
    for name, value in build_module(config).network.state_dict().items():
        if not name.endswith("num_batches_tracked"):
            assert value.equal(learned[f"network.base.{name}"]), name
    train(config, tmp_path / "second")
    file.unlink()
    build_module(config, with_pretrained=False)  # as whoever reads a trained run does


def test_a_file_of_another_network_is_refused(tmp_path: Path) -> None:
    torch.save(WideResNet(10, depth=10, width=4, channels=1).state_dict(), tmp_path / "wide.pt")
    with pytest.raises(ConfigError, match=r"net\.init_from=.*wide\.pt fits only .* so it is for another one"):
        WideResNet(10, depth=10, width=1, channels=1, init_from=str(tmp_path / "wide.pt"))
    with pytest.raises(ConfigError, match=r"net\.init_from=.* is not there"):
        WideResNet(10, init_from=str(tmp_path / "nothing.pt"))
