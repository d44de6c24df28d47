"""Images, the first arrow of the data flow: a folder of one's own, with a few labels."""

from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from smoothpl.cli.messages import first_few, inform_once
from smoothpl.data.depth import BY_ITSELF, FIRST_PAGE
from smoothpl.data.folder.decoded import Decoded, Rows, decode_all
from smoothpl.data.folder.held_out import check_test, hold_out
from smoothpl.data.folder.scan import Scan, scan_folder
from smoothpl.data.source import HELD_OUT, UNKNOWN, Source
from smoothpl.errors import ConfigError, require


def folder(
    root: str,
    images_digest: str,
    labels_digest: str,
    size: int,
    num_labels: int,
    folds: int,
    fold: int,
    labels: str | None = None,
    scan: Scan | None = None,
) -> Source:
    """All images below `root`, of `size` x `size` pixels; each content once, in an order that no renaming changes.

    The digests say which images and labels are meant. Without a test set the labeled images are divided into `folds`
    parts, of which number `fold` tests and does not train. A test image is not among the unlabeled images either, nor
    is any copy of it. `scan`: the folder, if it was scanned already.
    """
    found = scan_folder(root, labels) if scan is None else scan
    check_unchanged(found, root, images_digest, labels_digest, num_labels)
    check_test(folds, fold, bool(found.test), root)
    decoded = decode_all(found.paths, list(found.digests.values()), size)
    names = by_content(found, decoded)
    held_out = {*names.test} if found.test else hold_out(names.label, folds, fold)
    tests = names.test if found.test else {each: names.label[each] for each in held_out}
    require(bool(tests), f"data.root={root}: none of the test images can be read; replace them.")
    row = {digest: at for digest, at in zip(decoded.digests, decoded.row.tolist(), strict=True) if at >= 0}
    number = {name: c for c, name in enumerate(found.class_names)}
    # A held-out image keeps its place among the training images: adding labels must not renumber the others.
    known = {each: HELD_OUT if each in held_out else number[names.label[each]] for each in {*names.label, *held_out}}
    rows = partial(rows_of, decoded.images, row, dict(zip(decoded.digests[::-1], found.files[::-1], strict=True)))
    return Source(
        train=rows(sorted(row), [known.get(each, UNKNOWN) for each in sorted(row)]),
        test=rows(sorted(tests), [number[tests[each]] for each in sorted(tests)]),
        class_names=found.class_names,
        num_left_out=int((decoded.row < 0).sum()),
        tested_on="" if found.test else f"labeled images held out, part {fold} of {folds}",
    )


def rows_of(images: Tensor, row: dict[str, int], file: dict[str, str], digests: list[str], labels: list[int]) -> Rows:
    """Some contents, by their rows among the decoded images, and their files."""
    places = torch.tensor([row[each] for each in digests])
    return Rows(images, places, torch.tensor(labels), digests, [file[each] for each in digests])


def check_unchanged(scan: Scan, root: str, images_digest: str, labels_digest: str, num_labels: int) -> None:
    require(
        num_labels == len(scan.label),
        f"num_labels={num_labels}, but data.root={root} has {len(scan.label)} labels now; leave num_labels out.",
    )
    require(
        images_digest == scan.images_digest,
        f"data.root={root} no longer holds the images of this run (data.images_digest={images_digest}); start a new "
        "run.",
    )
    require(
        labels_digest == scan.labels_digest,
        f"data.root={root} no longer has the labels of this run (data.labels_digest={labels_digest}); start a new run.",
    )


class ClassNames(NamedTuple):
    """Names of classes by content."""

    label: dict[str, str]
    test: dict[str, str]


def by_content(scan: Scan, decoded: Decoded) -> ClassNames:
    """Lists duplicates, and files that are not images, to the user."""
    names, first = ClassNames({}, {}), dict[str, str]()
    bad, twice = dict[str, str](), list[str]()
    by_file = dict(zip(scan.files, decoded.digests, strict=True))
    for file, digest, row in zip(scan.files, decoded.digests, decoded.row.tolist(), strict=True):
        if row < 0:
            bad[file] = decoded.bad[digest]
            continue
        if first.setdefault(digest, file) != file:
            twice.append(file)
        for known, given in ((names.label, scan.label), (names.test, scan.test)):
            if file in given and known.setdefault(digest, given[file]) != given[file]:
                other = next(each for each in given if by_file[each] == digest)
                raise ConfigError(
                    f"{file} and {other} are the same image, and labeled {given[file]} and {known[digest]}; remove one."
                )
    report([f"{file!r} ({why})" for file, why in bad.items()], scan, "files are not readable images and are skipped")
    report(list(map(repr, twice)), scan, "images are copies of others and are used once")
    report_remarks(scan, decoded)
    leave_tests_out(scan, names, by_file)
    missing = sorted({*scan.class_names} - {*names.label.values()})
    require(not missing, f"data.root={scan.root}: no image of {', '.join(missing)} is left to learn from; label more.")
    return names


def leave_tests_out(scan: Scan, names: ClassNames, by_file: dict[str, str]) -> None:
    """Removes labels of images that are test images, too."""
    leaks = []
    for digest in [each for each in names.label if each in names.test]:
        file = next(file for file, each in by_file.items() if each == digest and file in scan.label)
        require(
            names.label[digest] == names.test[digest],
            f"{file} is {names.label[digest]} among the labeled images and {names.test[digest]} among the test images "
            "(the same content); keep one of them.",
        )
        leaks.append(file)
        del names.label[digest]
    report(list(map(repr, leaks)), scan, "labeled images are test images, too, and are not trained on")


def report(names: list[str], scan: Scan, what: str) -> None:
    if names:
        inform_once(f"{scan.root}: {len(names)} of {len(scan.files):,} {what}: {first_few(names)}")


def report_remarks(scan: Scan, decoded: Decoded) -> None:
    """Says how images of more than 8 bits were scaled: nobody can see it in the results."""
    counts = {remark: sum(each in some for each in decoded.digests) for remark, some in decoded.remarks.items()}
    num_pages = counts.pop(FIRST_PAGE, 0)
    if counts:
        how = ", ".join(f"{number:,} {remark}" for remark, number in sorted(counts.items()))
        alike = "; brightness cannot be compared between these" if BY_ITSELF in counts else ""
        inform_once(f"{scan.root}: images of more than 8 bits are scaled to 8, {how}{alike}.")
    if num_pages:
        inform_once(f"{scan.root}: {num_pages:,} images have several pages, of which the first is used.")
