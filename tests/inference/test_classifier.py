import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from smoothpl.cli.front_door import explain
from smoothpl.data import digits
from smoothpl.errors import ConfigError
from smoothpl.inference.classifier import Classifier, load
from smoothpl.inference.joined import CHUNK
from smoothpl.record.record import read
from smoothpl.run.build import build_data, build_module
from smoothpl.run.training import train
from tests.support.composing import TINY, composed
from tests.support.images import in_memory
from tests.support.own import picture, save


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("trained") / "run"
    train(composed(*TINY), place)
    return place


@pytest.fixture(scope="module")
def classifier(run_dir: Path) -> Classifier:
    return load(run_dir)


def test_a_classifier_predicts_what_the_averaged_network_of_the_run_predicts(
    run_dir: Path, classifier: Classifier
) -> None:
    config = composed(*TINY)
    module, data = build_module(config), build_data(config)
    module.load_state_dict(torch.load(run_dir / "last.ckpt", weights_only=True)["state_dict"])
    data.setup("test")
    images = in_memory(data.source.test).images[:100]
    with torch.no_grad():
        expected = module.average.eval()(data.views.of_test(images)).softmax(dim=1)
    found = classifier.predict(images)
    torch.testing.assert_close(found.probabilities, expected, atol=1e-5, rtol=0)
    assert found.labels == [str(c) for c in expected.argmax(dim=1).tolist()]
    assert torch.equal(found.confidence, found.probabilities.amax(dim=1))


def test_a_head_on_a_backbone_gives_the_confusion_of_its_run(on_features: Path) -> None:
    """Every test image from its bytes to its class: preprocessing, backbone and head as when the run was evaluated."""
    record, classifier = read(on_features), load(on_features, trust=True)
    test = in_memory(digits().test)
    predicted = classifier.predict(test.images)
    found = torch.zeros(10, 10, dtype=torch.long)
    for label, name in zip(test.labels.tolist(), predicted.labels, strict=True):
        found[label, int(name)] += 1
    assert found.tolist() == record.confusion
    assert record.error is not None
    assert record.error < 50  # it has learned something to agree on
    assert torch.equal(predicted.probabilities[3:4], classifier.predict(test.images[3]).probabilities)


@pytest.mark.parametrize(
    "kind", ["path", "text", "pillow", "grey array", "array", "four", "floats", "flipped twice", "tensor", "grey"]
)
def test_an_image_may_come_in_many_forms(kind: str, classifier: Classifier, tmp_path: Path) -> None:
    array = np.array(picture(0))
    colour = torch.from_numpy(array).expand(3, 8, 8)
    forms = {
        "path": save(tmp_path / "x.png", 0),
        "text": str(save(tmp_path / "x.png", 0)),
        "pillow": picture(0),
        "grey array": array,
        "array": np.stack([array] * 3, axis=2),
        "four": np.stack([array] * 4, axis=2),
        "floats": (array / 255).astype(np.float32),
        "flipped twice": np.ascontiguousarray(array[:, ::-1])[:, ::-1],
        "tensor": colour,
        "grey": colour[:1],
    }
    expected = classifier.predict(picture(0)).probabilities
    assert torch.equal(classifier.predict(forms[kind]).probabilities, expected)  # type: ignore[arg-type]
    assert torch.equal(classifier.predict([forms[kind]]).probabilities, expected)  # type: ignore[list-item]


def test_an_image_of_another_size_is_brought_to_that_of_the_network(classifier: Classifier) -> None:
    wide = Image.new("L", (24, 16))
    wide.paste(picture(0).resize((16, 16), Image.Resampling.NEAREST), (4, 0))
    assert classifier.prepare(wide).shape == (1, 8, 8)
    difference = classifier.prepare(wide).float() - classifier.prepare(picture(0)).float()
    assert difference.abs().mean() < 20


@pytest.mark.parametrize("size", [1, 3, CHUNK, CHUNK + 1])
def test_the_result_of_an_image_does_not_depend_on_others(size: int, classifier: Classifier) -> None:
    images = torch.stack([classifier.prepare(picture(number)) for number in range(CHUNK + 10)])
    whole = classifier.predict_pixels(images).probabilities
    parts = [
        classifier.predict_pixels(images[start : start + size]).probabilities for start in range(0, len(images), size)
    ]
    assert torch.equal(whole, torch.cat(parts))
    assert classifier.predict([]).labels == []


def test_an_array_that_is_not_an_image_is_refused(classifier: Classifier) -> None:
    with pytest.raises(ValueError, match=r"with 1, 3 or 4 channels; this one is \(2, 8, 8\)"):
        classifier.predict(torch.zeros(2, 8, 8))
    with pytest.raises(ValueError, match=r"of bytes, 0 to 255, or of floats, 0 to 1; this one is of torch\.int64"):
        classifier.predict(torch.zeros(3, 8, 8, dtype=torch.long))


def test_a_run_without_weights_is_refused(tmp_path: Path, run_dir: Path) -> None:
    with pytest.raises(ConfigError, match=r"is not a run: it has no run\.json; name the directory of a run"):
        load(tmp_path)
    (tmp_path / "run.json").write_bytes((run_dir / "run.json").read_bytes())
    with pytest.raises(ConfigError, match=r"has no last\.ckpt: only a finished run can be used; continue it"):
        load(tmp_path)


def test_a_strangers_record_calls_nothing_but_networks(tmp_path: Path, run_dir: Path) -> None:
    for name in ("run.json", "last.ckpt"):
        (tmp_path / name).write_bytes((run_dir / name).read_bytes())
    record = json.loads((tmp_path / "run.json").read_text())
    target = tmp_path / "touched"
    evil = {"_target_": "os.system", "command": f"touch {target}"}
    for net in (
        {"_target_": "pathlib.Path.touch", "self": {"_target_": "pathlib.Path", "_args_": [str(target)]}},
        {"_target_": "smoothpl.nets.WideResNet", "num_classes": evil},
        {"_target_": "smoothpl.nets.WideResNet", "num_classes": "${evil}"},
        {"_target_": "smoothpl.nets.WideResNet", "num_classes": [evil]},
        {"_target_": "smoothpl.nets.wideresnet.math.prod"},
        {"_target_": "torchvision.models.get_model", "name": "resnet18"},
        {},
    ):
        config = record["config"] | {"net": net, "evil": evil}
        (tmp_path / "run.json").write_text(json.dumps(record | {"config": config}))
        with pytest.raises(
            ConfigError, match=r"not smoothpl's own code .* trust where the run comes from, add trust=true"
        ):
            load(tmp_path)
    assert not target.exists()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda record: record["config"]["data"].update(mean="x"), r"run\.json is damaged \(could not convert"),
        (
            lambda record: record["config"]["data"].update(std=[0]),
            r"run\.json is damaged \(mean=\[0\.305\], std=\[0\.0\]\)",
        ),
        (
            lambda record: record["config"]["views"].update(test_frame={"share": -5}),
            r"run\.json is damaged \(size=8, sh",
        ),
        (lambda record: record["config"]["net"].update(width=10**6), r"net\.width=1000000 .* this machine has"),
        (lambda record: record["config"]["net"].update(depth=10**9 + 6), r"net\.depth=1000000006 must be at most"),
    ],
)
def test_the_record_of_a_stranger_is_refused_in_one_line(
    run_dir: Path, tmp_path: Path, change: Callable[[Any], None], reason: str
) -> None:
    shutil.copytree(run_dir, tmp_path / "run")
    record = json.loads((run_dir / "run.json").read_text())
    change(record)
    (tmp_path / "run" / "run.json").write_text(json.dumps(record))
    with pytest.raises(Exception, match=reason) as refused:
        load(tmp_path / "run")
    assert "\n" not in explain(refused.value)


def test_images_that_no_memory_holds_are_refused(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smoothpl.inference.classifier.machine_memory", lambda: 1000)
    with pytest.raises(ConfigError, match=r"16 images of 8 x 8 pixels take 4\.1 kB, and this machine has 1\.0 kB"):
        load(run_dir)
