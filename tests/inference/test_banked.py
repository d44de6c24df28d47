from pathlib import Path

import numpy as np
import pytest
import torch

from smoothpl.backbones import Embeddings
from smoothpl.config.overrides import CommandLine
from smoothpl.config.recipe import plain
from smoothpl.data.features.source import PLAIN
from smoothpl.data.folder.decoded import decode_all
from smoothpl.data.folder.scan import scan_folder
from smoothpl.inference.banked import recipe, vectors_of
from smoothpl.run.build import build_data
from smoothpl.run.command_line import complete
from tests.support.backbones import TINY_BACKBONE, tiny_encoder, tiny_engine
from tests.support.composing import TINY, composed, options
from tests.support.own import two_digits


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "smoothpl" / "features"


@pytest.mark.parametrize("name", options("views"))
def test_the_bank_of_a_run_is_known_by_its_views(name: str) -> None:
    config = composed(f"views={name}", *TINY_BACKBONE, "++data.padding=1", "++data.size=8")
    features = build_data(config).features
    assert features is not None
    assert recipe(plain(config)["views"]) == features.recipes[PLAIN]


def test_what_training_has_made_is_not_made_again(tmp_path: Path, cache: Path) -> None:
    root = two_digits(tmp_path / "photos")
    words = ["data=folder", f"data.root={root}", "data.size=8", *TINY_BACKBONE, *TINY]
    request = complete(CommandLine.parse(words))
    data = build_data(request.config(), request.scan)
    data.setup("fit")
    before = {path: path.stat().st_size for path in cache.glob("*/vectors.f16")}
    scan = scan_folder(str(root))
    decoded = decode_all(scan.paths, list(scan.digests.values()), 8)
    files = [5, 0, 17]
    found = vectors_of(scan, decoded, files, [tiny_engine()], {})
    assert {path: path.stat().st_size for path in cache.glob("*/vectors.f16")} == before
    assert found.equal(tiny_encoder()(decoded.images[decoded.row[files]]).half().float())


def test_vectors_made_elsewhere_stand_beside_those_of_a_network(tmp_path: Path) -> None:
    scan = scan_folder(str(two_digits(tmp_path / "photos")))
    decoded = decode_all(scan.paths, list(scan.digests.values()), 8)
    np.save(tmp_path / "vectors.npy", torch.randn(len(scan.files), 2).numpy())
    (tmp_path / "names.txt").write_text("\n".join(scan.files))
    elsewhere = Embeddings(str(tmp_path / "vectors.npy"), str(tmp_path / "names.txt"))
    found = vectors_of(scan, decoded, [3, 1], [elsewhere, tiny_engine()], {})
    assert found.shape == (2, 98)
    assert found[:, :2].numpy().tolist() == np.load(tmp_path / "vectors.npy")[[3, 1]].tolist()
