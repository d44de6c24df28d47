from pathlib import Path

from smoothpl.loggers.curves import Curves


def test_every_row_has_the_columns_of_all(tmp_path: Path) -> None:
    curves = Curves(tmp_path)
    curves.log_metrics({"b": 1.5}, 1)
    curves.log_metrics({"a": 2.5}, 2)
    curves.log_metrics({}, 3)
    assert (tmp_path / "logs" / "metrics.csv").read_bytes() == b"a,b,step\r\n,1.5,1\r\n2.5,,2\r\n"
    assert curves.num_rows == 2


def test_a_table_that_is_cut_back_continues_as_if_nothing_had_been_there(tmp_path: Path) -> None:
    straight, resumed = Curves(tmp_path / "straight"), Curves(tmp_path / "resumed")
    for step in range(5):
        straight.log_metrics({"loss": step / 3}, step)
        resumed.log_metrics({"loss": step / 3}, step)
    again = Curves(tmp_path / "resumed")
    again.rewind(3)
    for step in range(3, 5):
        again.log_metrics({"loss": step / 3}, step)
    assert again.path.read_bytes() == straight.path.read_bytes()


def test_a_new_run_leaves_nothing_of_the_one_before(tmp_path: Path) -> None:
    Curves(tmp_path).log_metrics({"old": 1.0}, 1)
    Curves(tmp_path).log_metrics({"new": 2.0}, 1)
    assert Curves(tmp_path).read() == [{"new": "2.0", "step": "1"}]


def test_it_tells_lightning_where_it_is(tmp_path: Path) -> None:
    assert (Curves(tmp_path).name, Curves(tmp_path).version) == ("logs", "")
