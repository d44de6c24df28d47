import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from smoothpl.errors import ConfigError
from smoothpl.record.record import Record, write
from smoothpl.record.trained import directory_of, handed_over, trained


@pytest.mark.parametrize("name", ["", "run.json", "last.ckpt"])
def test_a_run_may_be_named_by_its_record_or_its_checkpoint(tmp_path: Path, name: str) -> None:
    assert directory_of(tmp_path / name) == tmp_path


def test_a_run_without_record_checkpoint_or_class_names_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"is not a run: it has no run\.json"):
        trained(tmp_path)
    write(tmp_path, Record({}, "recipe", status="interrupted"))
    with pytest.raises(ConfigError, match=r"is interrupted and has no last\.ckpt"):
        trained(tmp_path)
    (tmp_path / "last.ckpt").touch()
    with pytest.raises(ConfigError, match=r"run\.json has no data, net, views, class_names"):
        trained(tmp_path)
    write(tmp_path, Record({"data": {}, "net": {}, "views": {}}, "recipe", class_names=["a", "b"]))
    assert trained(tmp_path).class_names == ["a", "b"]


def usable(place: Path, **more: Any) -> Record:
    place.mkdir(exist_ok=True)
    (place / "last.ckpt").touch()
    record = Record({"data": {}, "net": {}, "views": {}}, "recipe", class_names=["a", "b"], **more)
    write(place, record)
    return record


def test_the_network_that_is_used_is_the_one_that_was_chosen(tmp_path: Path) -> None:
    record = usable(tmp_path)
    assert handed_over(tmp_path) == (tmp_path, record)
    usable(tmp_path, handed_over="labels_only")
    with pytest.raises(
        ConfigError, match=r"hands over the network in .*labels_only, which is not there; copy the whole"
    ):
        handed_over(tmp_path)
    twin = usable(tmp_path / "labels_only", name="supervised")
    assert handed_over(tmp_path) == (tmp_path / "labels_only", twin)


def test_a_record_hands_over_nothing_that_lies_elsewhere(tmp_path: Path) -> None:
    usable(tmp_path, handed_over="../other")
    with pytest.raises(ConfigError, match="is damaged: handed_over is"):
        handed_over(tmp_path)


@pytest.mark.parametrize("command", ["predict", "export", "suggest"])
def test_a_run_that_is_not_there_is_not_waited_for(tmp_path: Path, command: str) -> None:
    program = (
        "import sys\n"
        f"from smoothpl.commands.{command} import main\n"
        "from smoothpl.errors import ConfigError\n"
        f"try:\n    main(['run=/nowhere'] + ['images=.'] * ({command!r} != 'suggest'))\n"
        "except ConfigError as error:\n    assert 'run=/nowhere is not a run' in str(error)\n"
        "assert 'torch' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
