from pathlib import Path
from typing import Any

import pytest
import torch
from lightning import Callback, LightningModule, Trainer

from smoothpl.callbacks import Gallery
from smoothpl.callbacks.gallery import examples
from smoothpl.layout import PSEUDO_LABELS_PICTURE
from smoothpl.loggers import ExternalLogger
from smoothpl.module import SemiSupervisedModule
from smoothpl.run.build import build_data, build_module, build_trainer
from smoothpl.run.quiet import quiet_libraries
from tests.support.composing import TINY, composed
from tests.support.wall import Wall


def fitted(folder: Path, *knobs: str, wall: ExternalLogger | None = None, last: tuple[Callback, ...] = ()) -> None:
    quiet_libraries()
    config = composed(*TINY, "threshold=0.12", "logger=none", "pictures=true", *knobs)
    trainer = build_trainer(config, folder, last=last)
    if wall is not None:
        trainer.loggers = [wall]
    trainer.fit(build_module(config), datamodule=build_data(config))


def test_an_external_logger_gets_a_confusion_matrix_and_pseudo_labels_at_every_evaluation(tmp_path: Path) -> None:
    wall = Wall()
    fitted(tmp_path, wall=wall)
    assert wall.pictures == [("pseudo_labels", 2), ("confusion", 2), ("pseudo_labels", 4), ("confusion", 4)]
    assert not wall.failed


def test_the_last_pseudo_labels_are_kept(tmp_path: Path) -> None:
    fitted(tmp_path)
    assert (tmp_path / PSEUDO_LABELS_PICTURE).stat().st_size > 1000


@pytest.mark.parametrize("knob", ["pictures=false", "method=supervised", "callbacks.gallery=null"])
def test_where_nothing_is_to_be_seen_nothing_is_drawn(tmp_path: Path, knob: str) -> None:
    fitted(tmp_path, knob)
    assert not (tmp_path / PSEUDO_LABELS_PICTURE).exists()


@pytest.mark.parametrize("method", ["smooth", "pseudo_label"])
def test_an_example_has_the_views_that_were_seen_and_the_truth(tmp_path: Path, method: str) -> None:
    class Look(Callback):
        def on_train_batch_end(
            self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
        ) -> None:
            data = trainer.datamodule  # type: ignore[attr-defined]
            assert isinstance(pl_module, SemiSupervisedModule)
            assert pl_module.taught is not None
            views = [batch.weak] if method == "pseudo_label" else [batch.weak, batch.strong]
            which = torch.tensor([5, 3])
            for image, example in zip(which, examples(which, pl_module, batch, data), strict=True):
                pixels = [view[image] * data.views.std[0] + data.views.mean[0] for view in views]
                torch.testing.assert_close(example.views, torch.stack(pixels).clamp(0, 1))
                truth = int(data.source.train.labels[data.fold.unlabeled[batch.image[image]]])
                assert example.truth == data.source.class_names[truth]
                assert example.weight == pl_module.taught.weight[image]
                assert example.confidence == pl_module.taught.confidence[image]

    fitted(tmp_path, f"method={method}", last=(Look(),))


def test_no_images_cannot_be_shown() -> None:
    with pytest.raises(ValueError, match=r"callbacks.gallery.number=0 must be"):
        Gallery(every=1, number=0)


def test_a_single_image_is_enough(tmp_path: Path) -> None:
    fitted(tmp_path, "batch_size=1", "unlabeled_ratio=1")
    assert (tmp_path / PSEUDO_LABELS_PICTURE).exists()


def test_a_picture_that_cannot_be_drawn_is_not_worth_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("smoothpl.callbacks.gallery.pseudo_label_figure", None)
    fitted(tmp_path)
    assert "a picture could not be drawn (TypeError" in capsys.readouterr().err
