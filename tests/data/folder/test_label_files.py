import json
from pathlib import Path
from typing import Any

import pytest

from smoothpl.data.folder.label_files import Label, read_labels
from smoothpl.errors import ConfigError

FILES = ["a.png", "sub/b.png", "sub/c d.png", "=x.png", "ü\n.png", "x/same.png", "y/same.png"]


def labels(tmp_path: Path, content: Any, name: str = "labels.csv") -> list[Label]:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else json.dumps(content).encode())
    return read_labels(path, FILES)


def pairs(found: list[Label]) -> list[tuple[str, str]]:
    return [(each.file, each.name) for each in found]


def test_a_csv_names_files_labels_and_what_tests(tmp_path: Path) -> None:
    found = labels(tmp_path, "\ufefffile,label,split\na.png,cat,\n./sub//b.png,dog,test\nsub\\c d.png,cat,train\n")
    assert [each[:3] for each in found] == [
        ("a.png", "cat", False),
        ("sub/b.png", "dog", True),
        ("sub/c d.png", "cat", False),
    ]


def test_names_may_hold_anything_and_formulas_are_disarmed(tmp_path: Path) -> None:
    assert pairs(labels(tmp_path, 'file,label\n\'=x.png,\'=1+1\n"ü\n.png","a ""b"", c"\n')) == [
        ("=x.png", "=1+1"),
        ("ü\n.png", 'a "b", c'),
    ]


def test_a_row_without_a_label_is_not_labeled_yet(tmp_path: Path) -> None:
    assert pairs(labels(tmp_path, "file,label\na.png,\nsub/b.png,dog\n")) == [("sub/b.png", "dog")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("name,class\na.png,cat\n", "must start with a line that names its columns, file and label.*name,class"),
        ("", "it starts with nothing"),
        ("file,label\nz.png,cat\n", "labels.csv, line 2: 'z.png' is not an image below data.root"),
        ("file,label\n../../etc/passwd,cat\n", "is not an image below data.root"),
        ("file,label\n/etc/passwd,cat\n", "is not an image below data.root"),
        ("file,label,split\na.png,cat,val\n", "split=val must be train, test or empty"),
        ('file,label\n"a.png,cat\n', "cannot be read"),
    ],
)
def test_an_error_in_a_csv_is_reported_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        labels(tmp_path, content)


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"must be a \.csv \(file,label\) or the \.json"):
        labels(tmp_path, "x", "labels.xlsx")
    with pytest.raises(ConfigError, match=r"none\.csv cannot be read \(No such file or directory\); name a file"):
        read_labels(tmp_path / "none.csv", FILES)
    with pytest.raises(ConfigError, match="cannot be read"):
        labels(tmp_path, "{", "labels.json")
    (tmp_path / "latin.csv").write_bytes(b"file,label\n\xe4.png,x\n")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_labels(tmp_path / "latin.csv", FILES)
    with pytest.raises(ConfigError, match="neither an export of Label Studio"):
        labels(tmp_path, {"a": 1}, "labels.json")


def task(image: str, *choices: str, **more: Any) -> dict[str, Any]:
    result = [{"type": "choices", "value": {"choices": [choice]}} for choice in choices]
    return {"id": 7, "data": {"image": image}, "annotations": [{"result": result} | more]}


@pytest.mark.parametrize(
    "image", ["sub/b.png", "/data/local-files/?d=sub/b.png", "/data/upload/1/0a1b2c3d-b.png", "s3://bucket/b.png"]
)
def test_label_studio_names_images_in_many_ways(tmp_path: Path, image: str) -> None:
    assert pairs(labels(tmp_path, [task(image, "dog")], "export.json")) == [("sub/b.png", "dog")]


def test_other_texts_of_a_task_are_passed_over(tmp_path: Path) -> None:
    named = task("a.png", "cat")
    named["data"] = {"title": "my cat", "image": "a.png"}
    assert pairs(labels(tmp_path, [named], "export.json")) == [("a.png", "cat")]


def test_of_label_studio_the_last_word_counts_unless_it_was_cancelled(tmp_path: Path) -> None:
    twice = task("a.png", "cat")
    twice["annotations"] += task("a.png", "dog")["annotations"]
    cancelled, skipped = task("a.png", "cat", was_cancelled=True), {"data": {"image": "a.png"}, "annotations": None}
    twice["annotations"] += cancelled["annotations"]
    assert pairs(labels(tmp_path, [twice, cancelled, skipped], "export.json")) == [("a.png", "dog")]


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([task("a.png", "cat", "dog")], "task 7: an image must have one label, and has cat, dog"),
        ([task("same.png", "cat")], "same.png could be x/same.png or y/same.png"),
        ([task("gone.png", "cat")], "'gone.png' is not an image"),
        ([task("gone/b.png", "cat")], "'gone/b.png' is not an image"),
        ([{"data": {"image": "a.png"}, "annotations": [{"result": 3}]}], "is not in the format of Label Studio"),
        ([{"data": {"n": 1}} | {"annotations": task("", "cat")["annotations"]}], "does not say which image"),
    ],
)
def test_an_error_in_an_export_of_label_studio_is_reported(tmp_path: Path, tasks: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        labels(tmp_path, tasks, "export.json")


def test_coco_has_images_annotations_and_categories(tmp_path: Path) -> None:
    content: dict[str, Any] = {
        "images": [{"id": 1, "file_name": "a.png"}, {"id": 2, "file_name": "b.png"}],
        "categories": [{"id": 5, "name": "cat"}],
        "annotations": [{"image_id": 1, "category_id": 5}, {"image_id": 1, "category_id": 5}],
    }
    assert pairs(labels(tmp_path, content, "coco.json")) == [("a.png", "cat")]
    content["annotations"] += [{"image_id": 3, "category_id": 5}]
    with pytest.raises(ConfigError, match="3 is missing"):
        labels(tmp_path, content, "coco.json")


def test_a_file_name_need_not_be_unicode_but_a_label_must(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_bytes(b"file,label\n\xe4.png,dog\n")
    assert [(each.file, each.name) for each in read_labels(path, ["\udce4.png"])] == [("\udce4.png", "dog")]
    path.write_bytes(b"file,label\n\xe4.png,B\xe4r\n")
    with pytest.raises(ConfigError, match=r"cannot be read \(line 2\): it must be UTF-8"):
        read_labels(path, ["\udce4.png"])


@pytest.mark.parametrize("text", ["[" * 200_000, f"[{'9' * 5_000}]"])
def test_json_that_nobody_would_write_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "labels.json").write_text(text)
    with pytest.raises(ConfigError, match=r"cannot be read \(.+\); it must be whole"):
        read_labels(tmp_path / "labels.json", FILES)


@pytest.mark.parametrize("written", ["a%20b.png", "a%2520b.png", "u\u0308.png"])
def test_a_labelling_tool_may_spell_a_name_in_its_own_way(written: str, tmp_path: Path) -> None:
    content = {"images": [{"id": 1, "file_name": written}], "categories": [{"id": 1, "name": "dog"}]}
    annotations = {"annotations": [{"image_id": 1, "category_id": 1}]}
    (tmp_path / "coco.json").write_text(json.dumps(content | annotations))
    (label,) = read_labels(tmp_path / "coco.json", ["a%20b.png", "\u00fc.png"])
    assert label.file == ("\u00fc.png" if written.startswith("u") else "a%20b.png")
