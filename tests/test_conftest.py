import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.processes import Process


def test_what_tests_leave_behind_is_in_a_folder_that_is_removed(tmp_path: Path) -> None:
    place = Path(tempfile.gettempdir())
    assert place.name.startswith("smoothpl-tests-")
    asked = [sys.executable, "-c", "import tempfile; print(tempfile.gettempdir())"]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip() == str(place)
    assert Process("smoothpl", "--help", cwd=tmp_path).output.parent == place
