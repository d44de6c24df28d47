from pathlib import Path

from smoothpl.record.checkpoints import Checkpoint, commit, found, newest_whole


def test_damaged_checkpoints_are_put_aside_and_new_ones_are_kept(tmp_path: Path) -> None:
    for step in (90, 100):
        (tmp_path / f"step={step:08}-{'0' * 16}.ckpt").write_text("damaged")
    assert newest_whole(tmp_path) is None
    for step in (10, 20, 30):
        (tmp_path / "draft").write_text(str(step))
        commit(tmp_path / "draft", step, keep=2)
    assert [each.step for each in found(tmp_path)] == [30, 20]
    assert len(list(tmp_path.glob("*.damaged"))) == 2


def test_only_a_few_checkpoints_are_kept(tmp_path: Path) -> None:
    for step in (8, 9, 10, 11):
        (tmp_path / "draft").write_text(str(step))
        commit(tmp_path / "draft", step, keep=2)
    assert [each.step for each in found(tmp_path)] == [11, 10]
    assert all(each.is_whole for each in found(tmp_path))


def test_a_file_that_cannot_be_read_is_not_whole(tmp_path: Path) -> None:
    assert not Checkpoint(tmp_path / "gone.ckpt", 1, "0" * 16).is_whole
