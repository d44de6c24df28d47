from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.published import publishing
from tests.support.web import Web


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    with publishing(tmp_path / "served", monkeypatch) as server:
        yield server
