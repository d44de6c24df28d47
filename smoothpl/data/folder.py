"""Images, the first arrow of the data flow: a folder of one's own, with a few labels."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import torch

from smoothpl.cli.messages import remark, some
from smoothpl.data.album import Album, fingerprint, open_album
from smoothpl.data.album import told as letters_of_labels
from smoothpl.data.decoded import Decoded, Rows, decode_all
from smoothpl.data.source import APART, UNKNOWN, Source
from smoothpl.errors import ConfigError, require

MOST_FOLDS = 10


def folder(
    root: str, album: str, told: str, size: int, num_labels: int, folds: int, fold: int, labels: str | None = None
) -> Source:
    """All images below `root`, of `size` x `size` pixels; each content once, in an order that no renaming changes.

    `album` and `told` say which images and labels are meant. Without a test set the labeled images are divided into
    `folds` parts, of which number `fold` tests and does not train. What tests is not among the unlabeled images
    either, nor is anything of the same content.
    """
    found = open_album(root, labels)
    require(
        num_labels == len(found.label),
        f"num_labels={num_labels}, but data.root={root} has {len(found.label)} labels now; leave num_labels out.",
    )
    require(
        album == fingerprint(found),
        f"data.root={root} holds other images than those this run is about (data.album={album}); begin a new run.",
    )
    require(
        told == letters_of_labels(found),
        f"data.root={root} has other labels than this run is about (data.told={told}); begin a new run.",
    )
    check_test(folds, fold, bool(found.test), root)
    decoded = decode_all([found.root / file for file in found.files], size)
    names = by_content(found, decoded)
    held_out = {*names.test} if found.test else hold_out(names.label, folds, fold)
    tests = names.test if found.test else {each: names.label[each] for each in held_out}
    require(bool(tests), f"data.root={root}: none of the test images can be read; replace them.")
    row = {digest: at for digest, at in zip(decoded.digests, decoded.row.tolist(), strict=True) if at >= 0}
    number = {name: c for c, name in enumerate(found.class_names)}
    # What is held out keeps its place among the training images: labels that are added must not renumber the others.
    known = {each: APART if each in held_out else number[names.label[each]] for each in {*names.label, *held_out}}

    def rows(digests: Sequence[str], labels: list[int]) -> Rows:
        return Rows(decoded.images, torch.tensor([row[each] for each in digests]), torch.tensor(labels))

    return Source(
        train=rows(sorted(row), [known.get(each, UNKNOWN) for each in sorted(row)]),
        test=rows(sorted(tests), [number[tests[each]] for each in sorted(tests)]),
        class_names=found.class_names,
        num_left_out=int((decoded.row < 0).sum()),
        tested_on="" if found.test else f"labeled images held out, part {fold} of {folds}",
    )


class Told(NamedTuple):
    """Names of classes by content."""

    label: dict[str, str]
    test: dict[str, str]


def by_content(album: Album, decoded: Decoded) -> Told:
    """What is there twice, or is no image, is said to the user."""
    told, first = Told({}, {}), dict[str, str]()
    bad, twice, leaks = [], [], []
    by_file = dict(zip(album.files, decoded.digests, strict=True))
    for file, digest, row in zip(album.files, decoded.digests, decoded.row.tolist(), strict=True):
        if row < 0:
            bad.append(file)
            continue
        other = first.setdefault(digest, file)
        if other != file:
            twice.append(file)
        for names, given in ((told.label, album.label), (told.test, album.test)):
            if file in given and names.setdefault(digest, given[file]) != given[file]:
                other = next(each for each in given if by_file[each] == digest)
                raise ConfigError(
                    f"{file} and {other} are the same image, and labeled {given[file]} and {names[digest]}; remove one."
                )
    for digest in [each for each in told.label if each in told.test]:
        require(
            told.label[digest] == told.test[digest],
            f"{first[digest]} is {told.label[digest]} among the labeled images and {told.test[digest]} among the test "
            "images (the same content); say one of them.",
        )
        leaks.append(next(file for file, each in by_file.items() if each == digest and file in album.label))
        del told.label[digest]
    tell(bad, album, "files are no images that can be read, and are left out")
    tell(twice, album, "images are there more than once, and are used once")
    tell(leaks, album, "labeled images are test images, too, and do not train")
    missing = sorted({*album.class_names} - {*told.label.values()})
    require(not missing, f"data.root={album.root}: no image of {', '.join(missing)} is left to learn from; label more.")
    return told


def tell(files: list[str], album: Album, what: str) -> None:
    if files:
        remark(f"{album.root}: {len(files)} of {len(album.files):,} {what}: {some(list(map(repr, files)))}")


def check_test(folds: int, fold: int, has_test: bool, root: str) -> None:
    if has_test:
        require(folds == 0, f"data.folds={folds} has no effect: data.root={root} has test images; use data.folds=0.")
        require(fold == 0, f"fold={fold} has no effect: data.root={root} has test images; leave it out.")
    else:
        require(
            folds > 1,
            f"data.folds={folds}, but data.root={root} has no test images; hold out labeled ones: data.folds=5, or put "
            "images into test/<class>/.",
        )


def division(label: dict[str, str], usual: int) -> tuple[int, int]:
    """Into how many parts the labeled images (names by content) are divided, and the first of them that can test.

    As near to the usual number as it goes, and best if any part can test: a class may have so few labels that holding
    out a part would leave it with none.
    """
    best = (0.0, usual, 0)
    for folds in sorted(range(2, MOST_FOLDS + 1), key=lambda each: (abs(each - usual), each)):
        working = [fold for fold in range(folds) if can_hold_out(label, folds, fold)]
        share = len(working) / folds
        if share > best[0]:
            best = (share, folds, working[0])
    few = sorted(name for name, number in Counter(label.values()).items() if number == 1)
    require(
        best[0] > 0,
        f"too few images have labels ({len(label)}) for holding out some of them to test"
        + (f", {some(few)} one only" if few else "")
        + "; label more, two of each class at least, or put images into test/<class>/.",
    )
    return best[1], best[2]


def can_hold_out(label: dict[str, str], folds: int, fold: int) -> bool:
    try:
        return bool(hold_out(label, folds, fold))
    except ConfigError:
        return False


def hold_out(label: dict[str, str], folds: int, fold: int) -> set[str]:
    """Part `fold` of the labeled images: by their contents alone, so that no label that is added moves another one."""
    require(fold < folds, f"fold={fold} must be below data.folds={folds}: the labeled images have that many parts.")
    held = {each for each in label if int(each[:8], 16) % folds == fold}
    if not held:
        raise ConfigError(
            f"fold={fold} of data.folds={folds} holds out no labeled image ({len(label)} have labels); use another "
            "fold, fewer data.folds, or label more images."
        )
    left = {name for each, name in label.items() if each not in held}
    gone = sorted({*label.values()} - left)
    require(
        not gone,
        f"fold={fold} of data.folds={folds} holds out every label of {', '.join(gone)}; use another fold, more "
        "data.folds, or label more images.",
    )
    return held
