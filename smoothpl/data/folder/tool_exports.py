"""Labels as labelling tools export them, in JSON: Label Studio's two forms, and COCO's."""

import json
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn
from urllib.parse import unquote

from smoothpl.data.folder.finder import Finder
from smoothpl.data.folder.label import Label
from smoothpl.data.folder.walk import SUFFIXES
from smoothpl.errors import ConfigError, require

REGIONS = ("rectanglelabels", "polygonlabels", "ellipselabels", "brushlabels", "keypointlabels", "rectangle", "bbox")
ABOUT_TASKS = (
    *("id", "inner_id", "annotator", "annotation_id", "completed_by", "created_at", "updated_at", "lead_time"),
    *("agreement", "cancelled_annotations", "total_annotations", "total_predictions", "file_upload", "project"),
)
"""What Label Studio says of every task, beside the data and the answers."""
Task = dict[str, Any]


def read_json(path: Path, finder: Finder) -> Iterator[Label]:
    content = json.loads(path.read_bytes())  # UTF-8, UTF-16 and UTF-32, with or without a mark
    if isinstance(content, dict) and {"images", "annotations", "categories"} <= content.keys():
        return read_coco(content, path, finder)
    if isinstance(content, list) and content and all(isinstance(task, dict) for task in content):
        if all("data" in task for task in content):
            return read_label_studio(content, path, finder)
        if all("id" in task for task in content):
            return read_label_studio_min(content, path, finder)
    raise ConfigError(f"{path} is neither an export of Label Studio (JSON or JSON-MIN) nor in COCO's format.")


def read_coco(content: dict[str, Any], path: Path, finder: Finder) -> Iterator[Label]:
    try:
        names = {category["id"]: str(category["name"]) for category in content["categories"]}
        images = {image["id"]: image for image in content["images"]}
        for each in content["annotations"]:
            if is_region(each, images[each["image_id"]]):
                refuse_regions(f"{path.name}, {images[each['image_id']]['file_name']}", "bbox or segmentation")
        pairs = [(each["image_id"], each["category_id"]) for each in content["annotations"]]
        found = [(str(images[image]["file_name"]), names[category]) for image, category in dict.fromkeys(pairs)]
    except (KeyError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"{path}: {error} is missing; images, annotations and categories must fit together."
        ) from None
    for place, name in found:
        where = f"{path.name}, {place}"
        yield Label(existing(finder.look_for(place, where), place, where), name, False, where)


def is_region(annotation: dict[str, Any], image: dict[str, Any]) -> bool:
    """Whether an annotation is about a part of the image."""
    box = annotation.get("bbox") or []
    whole = [0, 0, image.get("width"), image.get("height")]
    return bool(annotation.get("segmentation")) or list(box) not in ([], whole)


def read_label_studio(tasks: list[Task], path: Path, finder: Finder) -> Iterator[Label]:
    """The one choice of the last annotation of each task that was not cancelled."""
    for number, task in enumerate(tasks):
        where = f"{path.name}, task {task.get('id', number)}"
        try:
            annotations = [each for each in task.get("annotations") or [] if not each.get("was_cancelled")]
            values = [each["value"] for last in annotations[-1:] for each in last["result"]]
            choices = [str(choice) for value in values for choice in value.get("choices") or []]
            regions = [kind for value in values for kind in REGIONS if kind in value]
            texts = [value for value in task["data"].values() if isinstance(value, str)]
        except (AttributeError, KeyError, TypeError) as error:
            raise ConfigError(f"{where} is not in the format of Label Studio ({error!r}).") from None
        if choices:
            yield Label(image_of(texts, finder, where), one_of(choices, where), False, where)
        elif regions:
            refuse_regions(where, regions[0])


def read_label_studio_min(tasks: list[Task], path: Path, finder: Finder) -> Iterator[Label]:
    """One object for each task, with the data and the answers side by side."""
    key = answer_key(tasks, path)
    for task in tasks:
        where = f"{path.name}, task {task['id']}"
        answer = task.get(key)
        regions = [kind for value in task.values() for part in parts_of(value) for kind in REGIONS if kind in part]
        choices = [answer] if isinstance(answer, str) and answer else choices_of(answer)
        if choices:
            texts = [value for name, value in task.items() if name != key and is_place(value)]
            yield Label(image_of(texts, finder, where), one_of(choices, where), False, where)
        elif regions:
            refuse_regions(where, regions[0])


def answer_key(tasks: list[Task], path: Path) -> str:
    """The name that the labels have in the project: `choice`, unless somebody has changed it."""
    keys = dict.fromkeys(key for task in tasks for key, value in task.items() if value and key not in ABOUT_TASKS)
    if "choice" in keys:
        return "choice"
    values = {key: [task[key] for task in tasks if task.get(key)] for key in keys}
    answers = [key for key, given in values.items() if all(isinstance(each, str) or choices_of(each) for each in given)]
    answers = [key for key in answers if not any(map(is_place, values[key]))]
    if not answers:
        for key, given in values.items():
            if any(kind in part for each in given for part in parts_of(each) for kind in REGIONS):
                refuse_regions(f"{path.name}, {key}", key)
    require(
        len(answers) == 1,
        f"{path} must have one answer for each image, and has {', '.join(answers) or 'none'}; call the one that is the "
        "label 'choice'.",
    )
    return answers[0]


def parts_of(value: Any) -> list[dict[str, Any]]:
    return [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, dict)]


def choices_of(answer: Any) -> list[str]:
    """Of several choices, which Label Studio puts into an object."""
    return [str(choice) for part in parts_of(answer) for choice in part.get("choices") or []]


def is_place(value: object) -> bool:
    """Whether it is the path or the address of an image."""
    return isinstance(value, str) and PurePosixPath(unquote(value)).suffix.lower() in SUFFIXES


def one_of(choices: list[str], where: str) -> str:
    require(len(choices) == 1, f"{where}: an image must have one label, and has {', '.join(choices)}.")
    return choices[0]


def image_of(texts: list[str], finder: Finder, where: str) -> str:
    require(bool(texts), f"{where} does not say which image it is about.")
    found = next((file for text in texts if (file := finder.look_for(text, where)) is not None), None)
    return existing(found, texts[0], where)


def existing(file: str | None, place: str, where: str) -> str:
    if file is None:
        raise ConfigError(f"{where}: {place!r} is not an image below data.root; paths are relative to it.")
    return file


def refuse_regions(where: str, kind: str) -> NoReturn:
    raise ConfigError(
        f"{where} marks a part of an image ({kind}), and whole images are classified here: each needs one label. Ask "
        "for a choice instead of boxes, or cut the boxes out, save them as images, and label these."
    )
