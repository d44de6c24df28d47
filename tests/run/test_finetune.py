"""The second stage of a run, on a network so small that it takes seconds."""

import re
import signal
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import torch
from lightning import Callback, Trainer
from omegaconf import DictConfig
from rich.console import Console
from torch import Tensor

from smoothpl.backbones.build import build_encoders
from smoothpl.config.stages import of_head, of_network
from smoothpl.data import SemiSupervisedData
from smoothpl.errors import ConfigError
from smoothpl.inference.classifier import load
from smoothpl.inference.export import export
from smoothpl.inference.formats import FORMATS
from smoothpl.inference.portable import Portable
from smoothpl.nets.finetuning.whole import WholeNetwork
from smoothpl.record.record import Record, read
from smoothpl.results.summary import print_summary
from smoothpl.run import finetune
from smoothpl.run.build import build_data, build_module
from smoothpl.run.finetune import announce, check_memory, memory_of_step, take_head, words_of_head
from smoothpl.run.training import train
from tests.support.composing import SMALL, TINY, composed
from tests.support.lives import differences, killer, outcome, resume, run

SCHEDULE = ("finetune.max_steps=4", "finetune.eval_every=2", "finetune.batch_size=4", "finetune.unlabeled_ratio=1")
MODES = ("norms", "last", "lora", "all")
FOLDER = Path(__file__).parents[1] / "support" / "conf"


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Features are made once for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def config_of(mode: str, *words: str) -> DictConfig:
    return composed(*TINY, *SMALL, f"finetune={mode}", *SCHEDULE, *words)


def trained(run_dir: Path, mode: str, *words: str) -> tuple[Record, dict[str, Tensor]]:
    record = train(config_of(mode, *words), run_dir, "test")
    return record, torch.load(run_dir / "last.ckpt", weights_only=True)["state_dict"]


def network_of(mode: str, *words: str) -> WholeNetwork:
    network = build_module(of_network(config_of(mode, *words))).network
    assert isinstance(network, WholeNetwork)
    return network


def averaged(state: dict[str, Tensor]) -> dict[str, Tensor]:
    return {key.removeprefix("average."): value for key, value in state.items() if key.startswith("average.")}


@pytest.mark.parametrize("mode", MODES)
def test_a_run_has_a_head_and_then_a_network(tmp_path: Path, mode: str) -> None:
    record, state = trained(tmp_path, mode)
    head = read(tmp_path / "head")
    assert (record.status, head.status) == ("finished", "finished")
    assert [each.step for each in record.history] == [each.step for each in head.history] == [2, 4]
    assert record.labeled == head.labeled
    assert head.config["finetune"] is None
    assert record.config["finetune"]["mode"] == mode
    assert record.recipe != head.recipe
    assert any(name.startswith("network.backbone.") for name in state)
    assert not list(tmp_path.glob("**/checkpoints"))


def test_without_learning_it_is_the_head_on_frozen_features(tmp_path: Path) -> None:
    frozen = ("finetune.learning_rate=0", "finetune.head_learning_rate=0")
    record, state = trained(tmp_path, "all", *frozen)
    head = torch.load(tmp_path / "head" / "last.ckpt", weights_only=True)["state_dict"]
    of_head = {key: value for key, value in averaged(state).items() if key.startswith("head.")}
    assert of_head
    assert all(torch.equal(value, head[f"average.{key.removeprefix('head.')}"]) for key, value in of_head.items())
    pretrained = build_encoders(config_of("all").backbone)[0].network.state_dict()
    assert all(
        torch.equal(value, pretrained[key.removeprefix("backbone.")])
        for key, value in averaged(state).items()
        if key.startswith("backbone.")
    )
    # Features were rounded to 16 bits, the network is not.
    assert abs((record.error or 0) - (read(tmp_path / "head").error or 0)) <= 0.2


def test_a_step_sees_the_same_pixels_as_the_backbone_where_features_are_made() -> None:
    config = of_network(config_of("norms"))
    data, pictures = build_data(config), build_data(composed(*TINY, *SCHEDULE[:0], "batch_size=4", "unlabeled_ratio=1"))
    batch, raw = (next(batches(each)) for each in (data, pictures))
    encoder = build_encoders(config.backbone)[0]
    network = network_of("norms")
    for prepared, seen in zip(
        (batch.labeled, batch.weak, batch.strong), (raw.labeled, raw.weak, raw.strong), strict=True
    ):
        pixels = pictures.views.as_pixels(seen)
        torch.testing.assert_close(prepared, encoder.prepare(pixels), atol=1e-4, rtol=0)
        with torch.no_grad():
            assert torch.equal(network(prepared), network.head(encoder.network(channels_last(prepared))))


def channels_last(pixels: Tensor) -> Tensor:
    return pixels.contiguous(memory_format=torch.channels_last)


def batches(data: SemiSupervisedData) -> Iterator[Any]:
    data.setup("fit")
    for step in data.train_dataloader():
        yield data.on_after_batch_transfer(step, 0)


def test_the_averaged_head_is_where_both_networks_start(tmp_path: Path) -> None:
    module = build_module(of_network(config_of("norms")))
    head = build_module(of_head(config_of("norms")))
    for parameter in head.network.parameters():
        torch.nn.init.normal_(parameter)
    for parameter in head.average.parameters():
        torch.nn.init.ones_(parameter)
    torch.save({"state_dict": head.state_dict()}, tmp_path / "last.ckpt")
    take_head(module, tmp_path)
    for network in (module.network, module.average):
        assert isinstance(network, WholeNetwork)
        assert all(bool((each == 1).all()) for each in network.head.parameters())


def test_a_head_that_is_not_there_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"last\.ckpt is not there, the head that finetuning starts from; .*[^\n]\.$"):
        take_head(build_module(of_network(config_of("norms"))), tmp_path)


def test_the_summary_says_what_the_head_alone_had(tmp_path: Path) -> None:
    console = Console(file=StringIO(), width=80)
    record, _ = trained(tmp_path, "last")
    print_summary(record, tmp_path, console)
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    assert f"The head alone, before finetuning: {read(tmp_path / 'head').error:.2f} % error." in printed


def test_a_finished_head_is_not_trained_again(tmp_path: Path) -> None:
    trained(tmp_path / "one", "norms")
    before = (tmp_path / "one" / "head" / "run.json").read_text()
    (tmp_path / "one" / "last.ckpt").unlink()
    record = read(tmp_path / "one")
    (tmp_path / "two").mkdir()
    (tmp_path / "one" / "head").rename(tmp_path / "two" / "head")
    again, _ = trained(tmp_path / "two", "norms")
    assert (tmp_path / "two" / "head" / "run.json").read_text() == before
    assert again.history == record.history


def test_a_killed_run_ends_as_if_it_had_been_left_alone(tmp_path: Path, alone: Any) -> None:
    """The head has 4 steps, the network 8; a checkpoint is written every second one."""
    knobs = (
        *(f"--config-dir={FOLDER}", "backbone=small", "finetune=lora", "max_steps=4", "checkpoint_every=2"),
        *("eval_every=4", "finetune.max_steps=8", "finetune.eval_every=4", "finetune.batch_size=4"),
    )
    run_dir = tmp_path / "run"
    assert run(run_dir, *knobs, killer("step", 7)).returncode == -signal.SIGKILL
    assert (read(run_dir).status, read(run_dir / "head").status) == ("running", "finished")
    done = resume(run_dir, "+callbacks.killer=null", "resume_allow=[callbacks.killer]")
    assert done.returncode == 0, done.stderr
    assert read(run_dir).resumed_at == [6]
    assert differences(outcome(run_dir), alone(*knobs)) == []


class Stumble(Callback):
    """Ends a stage at a step, once."""

    def __init__(self, step: int, folder: str) -> None:
        self.step, self.folder = step, folder

    def on_train_batch_start(self, trainer: Trainer, *_: Any) -> None:
        if trainer.global_step == self.step and Path(trainer.default_root_dir).name == self.folder:
            raise OSError("it stumbles")


@pytest.mark.parametrize(("mode", "folder"), [("lora", "head"), ("norms", "run"), ("all", "run")])
def test_a_stage_that_was_stopped_goes_on_where_it_was(tmp_path: Path, mode: str, folder: str) -> None:
    trained(tmp_path / "alone" / "run", mode)
    run_dir = tmp_path / "stopped" / "run"
    stumble = f"{{_target_: tests.run.test_finetune.Stumble, step: 3, folder: {folder}}}"
    with pytest.raises(OSError, match="it stumbles"):
        trained(run_dir, mode, f"+callbacks.killer={stumble}")
    assert read(run_dir).status == "failed"
    trained(run_dir, mode, "+callbacks.killer=null", "resume_allow=[callbacks.killer]", f"resume='{run_dir}'")
    assert read(run_dir / "head").resumed_at == ([2] if folder == "head" else [])
    assert read(run_dir).resumed_at == [0 if folder == "head" else 2]
    for stage in (".", "head"):
        assert differences(outcome(run_dir / stage), outcome(tmp_path / "alone" / "run" / stage)) == []


def test_the_head_could_have_been_trained_by_itself() -> None:
    words = ["backbone=small", "finetune=lora", "finetune.rank=4", "max_steps=4"]
    assert words_of_head(words) == ["backbone=small", "max_steps=4"]


def test_more_labels_start_from_the_finetuned_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "outputs" / "fold=0,seed=2046" / "one"
    _, before = trained(place, "norms", "num_labels=20")
    still = ("finetune.learning_rate=0", "finetune.head_learning_rate=0")
    record = train(
        config_of(
            "norms", "num_labels=40", "labels_before=[20]", f"resume='{place}'", *still, "resume_allow=[finetune]"
        ),
        tmp_path / "two",
    )
    state = torch.load(tmp_path / "two" / "last.ckpt", weights_only=True)["state_dict"]
    assert [stage.num_labels for stage in record.label_history] == [20, 40]
    assert not (tmp_path / "two" / "head").exists()
    assert all(torch.equal(value, before[key]) for key, value in state.items() if key.startswith("network."))


def test_the_weight_of_the_unlabeled_loss_is_measured_once_on_features(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = []

    def measure(config: DictConfig, *_: Any) -> float:
        measured.append(config.finetune)
        return 2.5

    monkeypatch.setattr("smoothpl.run.training.measure_unlabeled_weight", measure)
    record, _ = trained(tmp_path, "norms", "unlabeled_weight=auto")
    assert measured == [None, None]  # of the head, and what was measured there again from its record
    assert record.status == "finished"


def test_what_it_costs_is_told_before_it_begins(capsys: pytest.CaptureFixture[str]) -> None:
    for mode, what in {
        "norms": "336 of the 26,496 weights of transformer",
        "lora": "9,216 weights beside the 26,496 of transformer",
    }.items():
        announce(of_network(config_of(mode)), network_of(mode))
        told = capsys.readouterr().out
        assert told.startswith(f"finetune={mode}: after the head, {what} learn; 4 steps of 12 images, each 16 x 16")
        assert told.count("\n") == 1
        assert re.search(r"pixels: about \d+ \w+ and at least [\d.]+ .?B of memory\.$", told)


def test_it_is_told_before_the_head_is_trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[bool] = []
    monkeypatch.setattr(finetune, "announce", lambda *_: told.append((tmp_path / "head").exists()))
    trained(tmp_path, "norms", "callbacks.progress={_target_: smoothpl.callbacks.ProgressReport, every: 2}")
    assert told == [False]


def test_the_memory_of_a_step_is_what_its_parts_take() -> None:
    stage, network = of_network(config_of("all")), network_of("all")
    own = sum(each.numel() for each in network.parameters())
    more = of_network(config_of("all", "finetune.batch_size=8"))
    one, two = (memory_of_step(each, network) for each in (stage, more))
    assert one is not None
    assert two is not None
    # Network, average, gradient and momentum; the rest grows with the images.
    assert two - 4 * 4 * own == pytest.approx(2 * (one - 4 * 4 * own))
    frozen = memory_of_step(stage, network_of("last"))
    assert frozen is not None
    assert frozen < one / 2


def test_a_step_that_does_not_fit_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finetune, "memory_of_device", lambda _: 1_000)
    with pytest.raises(ConfigError, match=r"^finetune\.batch_size=4 finetune\.unlabeled_ratio=1: a step would take at"):
        check_memory(of_network(config_of("all")), network_of("all"), remembers=False)


@pytest.mark.parametrize("kind", ["resnet", "mobilenet", "torchvision_transformer"])
def test_other_networks_are_finetuned_as_well(tmp_path: Path, kind: str) -> None:
    words = (f"backbone.encoders.small.kind={kind}", "backbone.views=1", "method=supervised")
    for mode in ("norms", "lora"):
        record, _ = trained(tmp_path / mode, mode, *words)
        assert record.status == "finished"


@pytest.fixture(scope="module")
def with_adapters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose adapters have learned something worth comparing."""
    run_dir = tmp_path_factory.mktemp("runs") / "lora"
    trained(run_dir, "lora", "finetune.learning_rate=0.1", "optim.learning_rate=0.1", "ema_decay=0")
    return run_dir


def evaluated(run_dir: Path) -> tuple[Tensor, Tensor]:
    """Test images as bytes, and their probabilities by the averaged network, its adapters beside its weights."""
    module, data = build_module(of_network(config_of("lora"))), build_data(of_network(config_of("lora")))
    state = torch.load(run_dir / "last.ckpt", weights_only=True)["state_dict"]
    module.average.load_state_dict(averaged(state))
    data.setup("fit")
    pixels = data.tested(torch.arange(40))
    with torch.no_grad():
        return pixels, module.average(data.views.of_test(pixels)).softmax(dim=1)


def test_a_loaded_run_predicts_what_was_evaluated(with_adapters: Path) -> None:
    pixels, probabilities = evaluated(with_adapters)
    classifier = load(with_adapters, trust=True)
    assert not any("lora" in name for name in classifier.state_dict())
    torch.testing.assert_close(classifier.predict_pixels(pixels).probabilities, probabilities, atol=1e-4, rtol=0)
    frozen = load(with_adapters / "head", trust=True).predict_pixels(pixels).probabilities
    assert float((frozen - probabilities).abs().max()) > 0.01


def test_what_is_exported_is_what_was_trained(with_adapters: Path, tmp_path: Path) -> None:
    pixels, probabilities = evaluated(with_adapters)
    classifier, kind = load(with_adapters, trust=True), FORMATS["onnx"]
    in_colours = [each.expand(3, -1, -1) for each in pixels]
    export(classifier, kind, in_colours, tmp_path / "network.onnx", {})
    exported = kind.read(tmp_path / "network.onnx", Portable(classifier))
    found = torch.cat([exported(each.unsqueeze(0)) for each in in_colours])
    torch.testing.assert_close(found, probabilities, atol=0.02, rtol=0)
    assert float((found - probabilities).abs().median()) < 1e-4
