from pathlib import Path

import pytest
import torch

from smoothpl.callbacks.photographs import answers_of, choose, shown_classes
from smoothpl.layout import PHOTOGRAPHS
from smoothpl.record.photographs import MOST_CLASSES, MOST_OF_A_KIND, as_picture, read_photographs
from smoothpl.run.build import build_data
from smoothpl.run.training import train
from tests.support.composing import TINY, composed


@pytest.mark.parametrize("knob", ["eval_every=2", "eval_every=3"])
def test_a_finished_run_has_photographs_of_what_it_got_right_and_wrong(tmp_path: Path, knob: str) -> None:
    """Also where the last evaluation comes after training, because the last step is not a multiple of eval_every."""
    config = composed(*TINY, knob, "checkpoint_every=6", "pictures=true")
    record = train(config, tmp_path / "run")
    found = read_photographs(tmp_path / "run", 10)
    for true, row in enumerate(record.confusion):
        right = [each for each in found if each.true == true and each.is_right]
        wrong = [each for each in found if each.true == true and not each.is_right]
        assert len(right) == min(MOST_OF_A_KIND, row[true])
        assert len(wrong) == min(MOST_OF_A_KIND, sum(row) - row[true])
        assert all(row[each.predicted] for each in wrong)
    data = build_data(config)
    data.setup("fit")
    test = data.source.test
    pictures = {as_picture(pixels) for pixels in test.read(torch.arange(len(test)), None, [])[0]}
    assert {each.picture for each in found} <= pictures


def test_without_pictures_there_are_none(tmp_path: Path) -> None:
    train(composed(*TINY), tmp_path / "run")
    assert not (tmp_path / "run" / PHOTOGRAPHS).exists()


def test_photographs_change_nothing_that_is_learned(tmp_path: Path) -> None:
    one, other = (train(composed(*TINY, f"pictures={what}"), tmp_path / what) for what in ("true", "false"))
    assert one.history == other.history
    first, second = (torch.load(tmp_path / what / "last.ckpt")["state_dict"] for what in ("true", "false"))
    assert all(torch.equal(tensor, second[name]) for name, tensor in first.items())


def test_what_cannot_be_kept_is_not_worth_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("smoothpl.callbacks.photographs.as_picture", None)
    assert train(composed(*TINY, "pictures=true"), tmp_path / "run").status == "finished"
    assert "a picture could not be drawn (TypeError" in capsys.readouterr().err


def test_an_answer_has_its_image_and_its_confidence() -> None:
    logits = torch.tensor([[0.0, 0.0], [0.0, 100.0]])
    assert answers_of(logits, torch.tensor([1, 1]), 500).tolist() == [[500, 1, 0, 0.5], [501, 1, 1, 1]]


def test_the_most_confident_of_each_kind_are_chosen_and_ranks_agree_with_one_process() -> None:
    answers = torch.stack([torch.arange(200), *torch.randint(3, (2, 200)), torch.rand(200)], dim=1)
    classes = [0, 2]
    whole = choose(answers, classes)
    halves = torch.cat([choose(answers[::2], classes), choose(answers[1::2], classes)])
    assert torch.equal(choose(halves, classes), whole)
    wrong = answers[(answers[:, 1] == 2) & (answers[:, 2] != 2)]
    assert whole[-MOST_OF_A_KIND:, 3].tolist() == wrong[:, 3].sort(descending=True).values[:MOST_OF_A_KIND].tolist()
    nothing = choose(answers[:0], classes)
    assert nothing.shape == whole.shape  # of a rank without images, too
    assert (nothing == -1).all()


def test_of_many_classes_the_least_recognised_are_shown() -> None:
    confusion = torch.diag(torch.arange(50)) + 1
    confusion[49] = 0  # without test images
    assert shown_classes(confusion) == list(range(MOST_CLASSES))
