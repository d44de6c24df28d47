import io
from pathlib import Path

from rich.console import Console

from smoothpl.metrics.paired import PairedErrors
from smoothpl.record.record import Evaluation, Record, write
from smoothpl.record.verdict import HeldOut, judge
from smoothpl.results.summary import print_summary


def summary(record: Record, path: Path = Path("outputs/run")) -> str:
    console = Console(file=io.StringIO(), width=80)
    print_summary(record, path, console)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def finished(collapsed: list[int]) -> Record:
    record = Record({"benchmark": "digits_40"}, "abc", "smooth,abc", num_test=500, duration=83.4)
    record.take_history([Evaluation(10, 12.345, collapsed)])
    record.class_names, record.class_accuracy = ["zero", "one"], [99.6, None]
    record.confusion = [[498, 2], [0, 0]]
    record.metrics = {"train/labeled_loss": 0.5, "train/coverage": 0.25, "train/unlabeled_loss": None}
    return record


def test_the_table_says_what_matters() -> None:
    text = summary(finished([]))
    for part in (
        "12.35 %",
        "500 test images",
        "0.5000",
        "0.2500",
        "zero:100",
        "one:none",
        "83 s",
        "smooth,abc",
    ):
        assert part in text
    assert "NaN" in text
    assert "none" in text.split("collapsed classes")[1]
    assert "498    2" in text
    assert max(map(len, text.splitlines())) <= 80


def test_collapsed_classes_are_named() -> None:
    assert "one" in summary(finished([1])).split("collapsed classes")[1].splitlines()[0]


def test_strangers_are_told_of() -> None:
    record = finished([])
    record.num_unlabeled, record.num_strangers = 1000, 500
    record.metrics |= {"train/stranger_recall": 0.875, "train/known_coverage": 0.625}
    text = summary(record)
    assert "500 of 1000 unlabeled images" in text
    assert "0.8750" in text.split("strangers not taught")[1].splitlines()[0]
    assert "0.6250" in text.split("known images taught")[1].splitlines()[0]
    assert "strangers" not in summary(finished([]))


def test_classes_without_a_label_are_named() -> None:
    record = finished([])
    record.labeled_per_class = [4, 4]
    assert "without a label" not in summary(record)
    record.labeled_per_class = [4, 0]
    assert "one" in summary(record).split("without a label")[1].splitlines()[0]


def test_a_matrix_that_does_not_fit_is_left_to_the_record() -> None:
    record = finished([])
    record.class_names, record.class_accuracy = [str(c) for c in range(100)], [50.0] * 100
    text = summary(record)
    assert "predicted" not in text
    assert "99:50" in text


def test_names_are_printed_as_they_are() -> None:
    record = finished([1])
    record.class_names, record.name = ["[red]", "[/x]"], "smooth,data.mean=[bold]"
    text = summary(record, Path("[dim]"))
    for name in ("[red]", "[/x]", "data.mean=[bold]", "[dim]/run.json"):
        assert name in text


def test_the_path_of_the_record_is_never_broken_over_lines() -> None:
    long = Path("outputs") / ("x" * 200)
    assert f"record: {long}/run.json" in summary(finished([]), long)


def test_classes_that_begin_alike_are_told_apart_by_numbers() -> None:
    record = finished([])
    record.class_names = ["flower white", "flower red"]
    text = summary(record)
    lines = [line.split() for line in text.splitlines()]
    assert ["0", "1"] in lines
    assert ["0", "flower", "white", "498", "2"] in lines
    assert ["1", "flower", "red", "·", "0"] in lines


def test_what_the_unlabeled_images_brought_is_the_first_line() -> None:
    record = finished([])
    record.verdict = judge(PairedErrors(500, 40, 40, 10), "test images")
    assert summary(record).startswith("The unlabeled images helped: 6.0 points fewer errors")


def test_the_table_is_of_the_network_that_is_handed_over(tmp_path: Path) -> None:
    record, twin = finished([]), finished([])
    pairs = PairedErrors(40, 9, 1, 3)
    record.verdict, record.handed_over = judge(pairs, "labels", HeldOut(pairs, 1.5, 1.25, 5)), "labels_only"
    record.config["verdict"] = {"action": "choose"}
    twin.take_history([Evaluation(10, 11.11, [])])
    (tmp_path / "labels_only").mkdir()
    write(tmp_path / "labels_only", twin)
    text = summary(record, tmp_path)
    assert text.startswith("Handed over is the network of labels alone")
    assert "11.11 %" in text
    assert "12.35 %" not in text
