import json
from pathlib import Path
from typing import Any

import pytest

from smoothpl.data.folder.label import Label
from smoothpl.data.folder.label_files import read_labels
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


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("head", ["file{0}label{0}split", "File{0} Label{0} SPLIT ", ' "FILE"{0}Label{0}split'])
def test_a_csv_is_read_as_spreadsheets_save_it(head: str, separator: str, encoding: str, tmp_path: Path) -> None:
    lines = [head.strip(), "a.png{0} Bär{0}", "sub/b.png{0}dog{0}Test", "x/same.png{0}{0}"]
    text = "\r\n".join(line.format(separator) for line in lines)
    (tmp_path / "labels.csv").write_bytes(text.encode(encoding))
    found = read_labels(tmp_path / "labels.csv", FILES)
    assert [each[:3] for each in found] == [("a.png", "Bär", False), ("sub/b.png", "dog", True)]
    assert found[1].where == "labels.csv, line 3"


def test_the_separator_may_be_stated_for_excel_and_lines_are_counted_all_the_same(tmp_path: Path) -> None:
    found = labels(tmp_path, 'sep=;\r\nFile;Label\r\na.png;"a;b"\r\n')
    assert found == [Label("a.png", "a;b", False, "labels.csv, line 3")]


def test_quotes_may_follow_a_space_where_the_first_line_has_spaces(tmp_path: Path) -> None:
    assert pairs(labels(tmp_path, 'file, label\na.png, "cat, dog"\n')) == [("a.png", "cat, dog")]


@pytest.mark.parametrize("name", ["labels.tsv", "labels.txt", "LABELS.CSV"])
def test_tables_may_have_other_endings(name: str, tmp_path: Path) -> None:
    assert pairs(labels(tmp_path, "file\tlabel\na.png\tcat\n", name)) == [("a.png", "cat")]


@pytest.mark.parametrize(
    "file", ["C:\\Users\\me\\{0}\\sub\\b.png", "/home/me/{0}/sub/b.png", "b.png", "SUB/B.PNG", " b.png"]
)
def test_files_may_be_written_as_people_write_them(file: str, tmp_path: Path) -> None:
    assert pairs(labels(tmp_path, f"file,label\n{file.format(tmp_path.name)},dog\n")) == [("sub/b.png", "dog")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("file,label\nsame.png,cat\n", r"line 2: same\.png could be x/same\.png or y/same\.png; write the path"),
        ("file,Label,LABEL\na.png,cat,dog\n", "names the column label twice"),
        (
            "file,label,xmin,ymin\na.png,cat,1,2\n",
            r"marks a part of an image \(xmin\), and whole images are classified",
        ),
        ("file;label,x\n", "it starts with file;label,x"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        labels(tmp_path, content)


def test_a_text_that_ends_within_a_letter_is_refused(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_bytes("file,label\na.png,cat\n".encode("utf-16")[:-1])
    with pytest.raises(ConfigError, match=r"cannot be read \(.+\); it must be whole, and UTF-8 or UTF-16"):
        read_labels(tmp_path / "labels.csv", FILES)
