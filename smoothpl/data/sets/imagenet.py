"""Images, the first arrow of the data flow: ImageNet, or any folders of its form, train/<class>/ and val/<class>/."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import torch

from smoothpl.cli.messages import first_few, inform
from smoothpl.data.pictures import Pictures, unreadable
from smoothpl.data.source import Source
from smoothpl.errors import ConfigError
from smoothpl.io.cache import recall, state_of

PARTS = ("train", "val")


def imagenet(root: str, on_bad_image: Literal["raise", "skip"] = "raise") -> Source:
    """The classes are the folders in train/, in alphabetical order; val/ has the same ones and is only tested on.

    `on_bad_image`: what happens to files that are not images. `raise` stops at the first one that is read; `skip`
    checks every file before training (once, the answer is remembered), and skips them.
    """
    if on_bad_image not in ("raise", "skip"):
        raise ConfigError(f"data.on_bad_image={on_bad_image} must be raise or skip.")
    folder = Path(root).expanduser()
    missing = [part for part in PARTS if not (folder / part).is_dir()]
    if missing:
        raise ConfigError(
            f"data.root={root} does not hold {' and '.join(f'{part}/' for part in missing)}; name the folder "
            "that holds train/ and val/, each with a folder for every class, as data.root or in SMOOTHPL_DATA."
        )
    class_names = [each.name for each in sorted((folder / "train").iterdir()) if each.is_dir()]
    test_names = [each.name for each in sorted((folder / "val").iterdir()) if each.is_dir()]
    if class_names != test_names:
        differing = sorted(set(class_names) ^ set(test_names))
        raise ConfigError(
            f"{folder}: train/ and val/ differ in {len(differing)} classes, {first_few(differing)}; "
            "both need a folder for every class."
        )
    if not class_names:
        raise ConfigError(f"{folder}: train/ and val/ must have a folder for every class, and have none.")
    found = {part: [files_in(folder / part / name) for name in class_names] for part in PARTS}
    bad: set[Path] = set()
    if on_bad_image == "skip":
        every = [path for part in found.values() for paths in part for path in paths]
        bad = set(find_bad(every))
        if bad:
            names = first_few([str(path.relative_to(folder)) for path in sorted(bad)])
            inform(f"{len(bad)} of {len(every):,} files in {folder} are not images and are skipped: {names}")
    train, test = (pictures(found[part], bad, folder / part, class_names) for part in PARTS)
    return Source(train, test, tuple(class_names), num_left_out=len(bad))


def files_in(folder: Path) -> list[Path]:
    return sorted(each for each in folder.rglob("*") if not each.is_dir() and not each.name.startswith("."))


def pictures(by_class: list[list[Path]], bad: set[Path], folder: Path, class_names: Sequence[str]) -> Pictures:
    good = [[path for path in paths if path not in bad] for paths in by_class]
    empty = [name for name, paths in zip(class_names, good, strict=True) if not paths]
    if empty:
        raise ConfigError(f"{folder} has no images of {', '.join(empty)}; add some, or remove the class everywhere.")
    labels = torch.arange(len(good)).repeat_interleave(torch.tensor([len(paths) for paths in good]))
    return Pictures([path for paths in good for path in paths], labels)


def find_bad(paths: list[Path]) -> list[Path]:
    """The files that are not images; remembered for as long as none of them changes."""

    def find() -> list[int]:
        inform(f"checking {len(paths):,} files, once ...")
        try:
            return list(unreadable(paths))
        except OSError as error:  # the disk's fault, not the picture's: nothing to remember
            raise ConfigError(f"{error.filename}: {error.strerror}; all files must be readable.") from error

    return [paths[number] for number in recall("looked_at", list(map(state_of, paths)), find)]
