import subprocess
import sys
from pathlib import Path

import smoothpl.inference


def test_inference_imports_no_lightning_and_nothing_of_training() -> None:
    """In a new interpreter: this one has imported everything."""
    names = [path.stem for path in Path(smoothpl.inference.__file__).parent.glob("*.py") if path.stem != "__init__"]
    imports = "\n".join(f"import smoothpl.inference.{name}" for name in names)
    forbidden = ("lightning", "pytorch_lightning", "smoothpl.run", "smoothpl.callbacks", "smoothpl.loggers")
    code = f"{imports}\nimport sys\nprint(*(name for name in {forbidden} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
