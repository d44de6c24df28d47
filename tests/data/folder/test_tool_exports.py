import json
from pathlib import Path
from typing import Any

import pytest

from smoothpl.data.folder.label import Label
from smoothpl.data.folder.label_files import read_labels
from smoothpl.errors import ConfigError

FILES = ["a.png", "sub/b.png", "sub/c d.png", "x/same.png", "y/same.png"]


def labels(tmp_path: Path, content: Any, name: str = "export.json") -> list[Label]:
    (tmp_path / name).write_text(json.dumps(content))
    return read_labels(tmp_path / name, FILES)


def pairs(found: list[Label]) -> list[tuple[str, str]]:
    return [(each.file, each.name) for each in found]


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


@pytest.mark.parametrize("written", ["a%20b.png", "a%2520b.png", "u\u0308.png"])
def test_a_labelling_tool_may_spell_a_name_in_its_own_way(written: str, tmp_path: Path) -> None:
    content = {"images": [{"id": 1, "file_name": written}], "categories": [{"id": 1, "name": "dog"}]}
    annotations = {"annotations": [{"image_id": 1, "category_id": 1}]}
    (tmp_path / "coco.json").write_text(json.dumps(content | annotations))
    (label,) = read_labels(tmp_path / "coco.json", ["a%20b.png", "\u00fc.png"])
    assert label.file == ("\u00fc.png" if written.startswith("u") else "a%20b.png")


def short(image: str, **more: Any) -> dict[str, Any]:
    """A task as JSON-MIN has it."""
    return {"image": image, "id": 7, "annotator": 1, "annotation_id": 3, "lead_time": 2.5, "created_at": "now"} | more


@pytest.mark.parametrize("image", ["a.png", "/data/upload/1/0a1b2c3d-a.png", "/data/local-files/?d=photos/a.png"])
@pytest.mark.parametrize(
    "answer",
    [{"choice": "cat"}, {"animal": "cat"}, {"animal": {"choices": ["cat"]}}, {"title": "Tom", "choice": "cat"}],
)
def test_label_studio_has_a_short_form(image: str, answer: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    tasks = [short(image, **answer), short("sub/b.png"), short("sub/c d.png", choice="")]
    assert pairs(labels(tmp_path / "photos", tasks)) == [("a.png", "cat")]


BOX = {"x": 1, "y": 2, "width": 3, "height": 4}


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([short("a.png", animal="cat", size="big")], "must have one answer for each image, and has animal, size; call"),
        ([short("a.png")], "must have one answer for each image, and has none"),
        (
            [short("a.png", choice={"choices": ["cat", "dog"]})],
            "task 7: an image must have one label, and has cat, dog",
        ),
        ([short("gone.png", choice="cat")], "task 7: 'gone.png' is not an image below data.root"),
        ([short("3", choice="cat")], "task 7 does not say which image it is about"),
        ([short("a.png", label=[BOX | {"rectanglelabels": ["cat"]}])], r"marks a part of an image \(label\)"),
        (
            [short("a.png", choice="cat"), short("sub/b.png", label=[BOX | {"rectanglelabels": ["cat"]}])],
            "marks a part",
        ),
    ],
)
def test_an_error_in_the_short_form_is_reported(tasks: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        labels(tmp_path, tasks)


@pytest.mark.parametrize("kind", ["rectanglelabels", "polygonlabels", "brushlabels", "keypointlabels"])
def test_boxes_are_refused_with_what_is_needed(kind: str, tmp_path: Path) -> None:
    boxed = task("a.png")
    boxed["annotations"][0]["result"] = [{"type": kind, "value": BOX | {kind: ["cat"]}}]
    message = rf"task 7 marks a part of an image \({kind}\), and whole images are classified here: each needs one label"
    with pytest.raises(ConfigError, match=message):
        labels(tmp_path, [boxed])
    boxed["annotations"][0]["result"] += task("", "cat")["annotations"][0]["result"]
    assert pairs(labels(tmp_path, [boxed])) == [("a.png", "cat")]  # somebody has said what the whole shows


@pytest.mark.parametrize(
    ("part", "is_whole"),
    [
        ({"bbox": [1, 2, 3, 4]}, False),
        ({"segmentation": [[1, 2, 3]]}, False),
        ({"bbox": [0, 0, 8, 6]}, True),
        ({"bbox": []}, True),
    ],
)
def test_boxes_of_coco_are_refused_unless_they_are_the_whole_image(
    part: dict[str, Any], is_whole: bool, tmp_path: Path
) -> None:
    content = {
        "images": [{"id": 1, "file_name": "a.png", "width": 8, "height": 6}],
        "categories": [{"id": 5, "name": "cat"}],
        "annotations": [{"image_id": 1, "category_id": 5} | part],
    }
    if is_whole:
        assert pairs(labels(tmp_path, content)) == [("a.png", "cat")]
    else:
        with pytest.raises(ConfigError, match=r"export.json, a.png marks a part of an image \(bbox or segmentation\)"):
            labels(tmp_path, content)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_an_export_may_be_in_other_encodings(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "export.json").write_text(json.dumps([task("a.png", "Bär")], ensure_ascii=False), encoding=encoding)
    assert pairs(read_labels(tmp_path / "export.json", FILES)) == [("a.png", "Bär")]
