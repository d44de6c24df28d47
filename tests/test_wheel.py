"""The package as strangers get it: built, installed into an empty environment, run from a foreign directory."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]


def test_the_wheel_stands_alone(tmp_path: Path) -> None:
    def call(*command: str | Path, **environment: str) -> str:
        done = subprocess.run(
            list(map(str, command)),
            cwd=tmp_path,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    call(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", tmp_path / "dist", CHECKOUT)
    call(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    call(python, "-m", "pip", "install", "--no-deps", "--no-index", wheel)
    # The dependencies of this environment, but not the editable smoothpl in it: path files are not followed there.
    dependencies = sysconfig.get_paths()["purelib"]
    where = call(
        python, "-c", "import smoothpl.config.knobs as c; print(c.conf_dir())", PYTHONPATH=dependencies
    ).strip()
    assert Path(where).is_relative_to(tmp_path / "venv")
    shown = call(python, "-m", "smoothpl.train", "max_steps=2", "batch_size=4", PYTHONPATH=dependencies)
    assert "error (last)" in shown
    (record,) = tmp_path.rglob("run.json")
    assert '"commit": null' in record.read_text()
