from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch
from lightning import Callback, LightningModule, Trainer

from smoothpl.callbacks import Recorder
from smoothpl.metrics.surprise import TEMPERATURES
from smoothpl.record.record import Evaluation, Record, read
from smoothpl.run.build import build_data, build_module, build_trainer
from smoothpl.run.quiet import quiet_libraries
from tests.support.composing import TINY, composed


class DeliberateError(Exception):
    pass


def recorded(tmp_path: Path, *overrides: str, callback: Callback | None = None) -> Record:
    quiet_libraries()
    config = composed(*TINY, "logger=none", *overrides)
    record = Record({}, "test")
    trainer = build_trainer(config, tmp_path, [Recorder(record, tmp_path), *([callback] if callback else [])])
    with suppress(DeliberateError):
        trainer.fit(build_module(config), datamodule=build_data(config))
    return record


def test_the_record_knows_the_data_and_every_evaluation(tmp_path: Path) -> None:
    record = recorded(tmp_path, "fold=2")
    assert record.labeled_per_class == [4] * 10
    assert len(record.labeled) == 40
    assert (sum(record.unlabeled_per_class), record.num_unlabeled, record.num_test) == (1297, 1297, 500)
    assert [evaluation.step for evaluation in record.history] == [2, 4]
    assert record.error == record.history[-1].error
    assert torch.tensor(record.confusion).sum() == 500
    correct = torch.tensor(record.confusion).trace().item()
    assert record.error == pytest.approx(100 * (500 - correct) / 500)


def test_the_record_knows_which_test_images_the_network_is_wrong_about(tmp_path: Path) -> None:
    quiet_libraries()
    config = composed(*TINY, "logger=none")
    record, module, data = Record({}, "test"), build_module(config), build_data(config)
    build_trainer(config, tmp_path, [Recorder(record, tmp_path)]).fit(module, datamodule=data)
    images = torch.cat([data.views.of_test(batch.images) for batch in data.val_dataloader()])
    logits = module.average.eval()(images)
    predicted = logits.argmax(dim=1)
    for temperature, surprise in zip(TEMPERATURES, record.surprise, strict=True):
        true = (logits.double() / temperature).softmax(dim=1)[torch.arange(500), data.source.test.labels]
        assert surprise == pytest.approx(-true.log().mean().item(), rel=1e-5)
    assert record.wrong == (predicted != data.source.test.labels).nonzero().squeeze(1).tolist()
    assert len(record.wrong) == round(5 * (record.error or 0))
    assert read(tmp_path).wrong == record.wrong


def test_the_record_has_the_means_of_the_last_training_steps(tmp_path: Path) -> None:
    assert set(recorded(tmp_path).metrics) == {
        "train/loss",
        "train/labeled_loss",
        "train/labeled_accuracy",
        "train/unlabeled_loss",
        "train/coverage",
        "train/weight_mean",
        "train/confidence_mean",
    }


def test_a_run_that_is_shorter_than_its_logging_interval_has_metrics_too(tmp_path: Path) -> None:
    assert "train/loss" in recorded(tmp_path, "log_every=1000").metrics


def test_a_failed_run_has_what_was_known_when_it_failed(tmp_path: Path) -> None:
    class FailAtStep3(Callback):
        def on_train_batch_start(self, trainer: Trainer, pl_module: LightningModule, *_: Any) -> None:
            if trainer.global_step == 3:
                raise DeliberateError

    record = recorded(tmp_path, callback=FailAtStep3())
    assert [evaluation.step for evaluation in record.history] == [2]
    assert record.error is not None
    assert read(tmp_path).history == record.history  # on disk already, had the process been killed
    assert "train/loss" in read(tmp_path).metrics


def test_evaluating_the_same_step_again_replaces_the_evaluation(tmp_path: Path) -> None:
    config = composed(*TINY, "logger=none")
    quiet_libraries()
    record = Record({}, "test")
    trainer, module = build_trainer(config, tmp_path, [Recorder(record, tmp_path)]), build_module(config)
    trainer.fit(module, datamodule=build_data(config))
    trainer.validate(module, datamodule=build_data(config), verbose=False)
    assert [evaluation.step for evaluation in record.history] == [2, 4]


def test_history_survives_a_restart(tmp_path: Path) -> None:
    before, after = (Recorder(Record({}, "test"), tmp_path) for _ in range(2))
    before.record.take_history([Evaluation(10, 50.0, [1]), Evaluation(20, 25.0, [])])
    after.load_state_dict(before.state_dict())
    assert after.record.history == before.record.history
    assert after.record.error == 25.0


def test_a_sanity_check_is_no_news(tmp_path: Path) -> None:
    record = recorded(tmp_path, "trainer.num_sanity_val_steps=1", "eval_every=4")
    assert [evaluation.step for evaluation in record.history] == [4]
