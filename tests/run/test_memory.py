from pathlib import Path

import pytest

from smoothpl.errors import ConfigError
from smoothpl.run import memory
from smoothpl.run.memory import check_classes, check_step, images_at_once, known_side, memory_of_device, parts_of_step
from smoothpl.run.training import train
from tests.support.composing import composed, options

GB = 10**9


@pytest.fixture(autouse=True)
def a_machine_of_16_gb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "machine_memory", lambda: 16 * GB)


def test_a_step_that_cannot_fit_is_refused_with_what_it_would_take_and_the_way_out() -> None:
    said = r"batch_size=100000 unlabeled_ratio=7: a step of 1,500,000 images would take at least 47 GB of memory, and "
    with pytest.raises(ConfigError, match=rf"{said}there are 16 GB; accumulate=8 computes it in 8 parts, or use a sm"):
        check_step(composed("batch_size=100000", "trainer.accelerator=cpu"), remembers=False)


def test_what_the_way_out_says_fits() -> None:
    check_step(composed("batch_size=100000", "accumulate=8", "trainer.accelerator=cpu"), remembers=False)


def test_a_method_with_a_memory_is_not_sent_to_accumulate() -> None:
    with pytest.raises(ConfigError, match=r"there are 16 GB; use a smaller batch_size, network or image\.$"):
        check_step(composed("batch_size=100000", "method=flexmatch", "trainer.accelerator=cpu"), remembers=True)


@pytest.mark.parametrize("benchmark", [name for name in options("benchmark") if name[:4] not in ("fold", "imag")])
def test_every_benchmark_fits_but_imagenet_which_the_paper_trained_on_several_devices(benchmark: str) -> None:
    check_step(composed(f"benchmark={benchmark}", "trainer.accelerator=cpu"), remembers=False)


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ([], 16 * 15),
        (["method=pseudo_label"], 16 * 8),
        (["method=supervised"], 16),
        (["forward=split"], 16 * 8),
        (["accumulate=4"], 4 * 15),
        (["trainer=ddp", "trainer.devices=2"], 8 * 15),
    ],
)
def test_the_images_that_are_held_at_once_are_those_with_a_gradient(words: list[str], number: int) -> None:
    config = composed(*words)
    assert images_at_once(config) == number
    assert parts_of_step(config) == (4 if words == ["accumulate=4"] else 1 + ("trainer=ddp" in words))


@pytest.mark.parametrize(
    "words", [["compile=true"], ["net._target_=nowhere.Net"], ["data.source._target_=builtins.print"]]
)
def test_what_cannot_be_known_is_not_refused(words: list[str]) -> None:
    check_step(composed("batch_size=100000", "trainer.accelerator=cpu", *words), remembers=False)


@pytest.mark.parametrize("number", ["0", "-3", "abc", "2.5", "1000000"])
def test_the_number_of_classes_is_one_that_a_matrix_can_have(number: str) -> None:
    with pytest.raises(ConfigError, match=rf"data\.num_classes={number}"):
        check_classes(composed(f"data.num_classes={number}"))


def test_the_side_of_images_is_known_from_views_data_or_their_source() -> None:
    assert known_side(composed()) == 8
    assert known_side(composed("benchmark=imagenet_10pct")) == 224
    assert memory_of_device(composed("trainer.accelerator=cpu")) == 16 * GB


def test_a_run_that_cannot_fit_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="a step of 1,500,000 images"):
        train(composed("batch_size=100000", "trainer.accelerator=cpu"), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []
