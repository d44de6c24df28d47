import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from smoothpl.backbones import Encoder
from smoothpl.cli.front_door import explain
from smoothpl.errors import ConfigError
from smoothpl.inference.classifier import load
from smoothpl.inference.parts import read_parts
from smoothpl.nets.heads import LinearHead
from smoothpl.run.build import build_data, build_module
from smoothpl.run.training import train
from tests.support.composing import SMALL, TINY, composed
from tests.support.images import in_memory

OF_STAGE = ("finetune.max_steps=4", "finetune.eval_every=4", "finetune.batch_size=4", "finetune.unlabeled_ratio=1")


def test_a_run_on_features_is_a_head_and_the_backbones_below_it(on_features: Path) -> None:
    parts = read_parts(on_features, trust=True)
    state = torch.load(on_features / "last.ckpt", weights_only=True)["state_dict"]
    assert isinstance(parts.network, LinearHead)
    assert torch.equal(parts.network.classify.weight, state["average.classify.weight"])
    assert [each.name for each in parts.encoders.values()] == ["tiny"]
    assert parts.record.backbones == {"tiny": parts.backbones["tiny"].digest}
    assert (parts.engine, parts.is_finetuned) == ("torch", False)


def changed(run_dir: Path, place: Path, change: Callable[[Any], None]) -> Path:
    shutil.copytree(run_dir, place)
    record = json.loads((place / "run.json").read_text())
    change(record)
    (place / "run.json").write_text(json.dumps(record))
    return place


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda record: record["backbones"].update(tiny="0" * 32), "was trained on other weights of backbone tiny"),
        (lambda record: record["config"].update(backbone="tiny"), r"run\.json is damaged \(backbone=tiny\)"),
        (lambda record: record["config"]["backbone"].update(encoders=[1]), r"run\.json is damaged \(backbone="),
        (lambda record: record["config"]["backbone"].update(encoders={"a": 1}), r"run\.json is damaged"),
        (lambda record: record["config"].update(backbone=None), "it needs the features of a backbone"),
        (
            lambda record: record["config"].update(net={"_target_": "smoothpl.nets.MLPHead", "num_classes": 10}),
            r"last\.ckpt is damaged, or of another network than run\.json says",
        ),
    ],
)
def test_what_does_not_belong_together_is_refused_in_one_line(
    on_features: Path, tmp_path: Path, change: Callable[[Any], None], reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason) as refused:
        load(changed(on_features, tmp_path / "run", change), trust=True)
    assert "\n" not in explain(refused.value)


def test_a_record_from_before_weights_were_noted_is_loaded(on_features: Path, tmp_path: Path) -> None:
    place = changed(on_features, tmp_path / "run", lambda record: record.update(backbones={}, schema=7))
    assert load(place, trust=True).class_names == tuple("0123456789")


def test_a_backbone_that_is_not_ours_needs_trust(on_features: Path) -> None:
    with pytest.raises(ConfigError, match=r"names a backbone that is not smoothpl's own code \(tests\.support\.back"):
        load(on_features)


@pytest.mark.parametrize("mode", ["norms", "lora"])
@pytest.mark.usefixtures("folder_of_runs")
def test_a_finetuned_backbone_predicts_what_the_averaged_network_of_the_run_predicts(mode: str, tmp_path: Path) -> None:
    config = composed(*TINY, *SMALL, f"finetune={mode}", *OF_STAGE, "finetune.learning_rate=0.5")
    train(config, tmp_path / "run")
    module, data = build_module(config), build_data(config)
    module.load_state_dict(torch.load(tmp_path / "run" / "last.ckpt", weights_only=True)["state_dict"])
    data.setup("test")
    images = in_memory(data.pictures.test).images[:100]
    with torch.no_grad():
        expected = module.average.eval()(data.views.of_test(images)).softmax(dim=1)
    parts = read_parts(tmp_path / "run", trust=True)
    (encoder,) = parts.encoders.values()
    assert isinstance(encoder, Encoder)
    assert parts.is_finetuned
    assert encoder.digest != next(iter(parts.record.backbones.values()))
    found = load(tmp_path / "run", trust=True).predict(images)
    torch.testing.assert_close(found.probabilities, expected, atol=1e-4, rtol=0)
