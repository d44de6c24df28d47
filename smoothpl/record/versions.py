"""On what a run was made: versions of packages, and the commit."""

import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("smoothpl", "torch", "torchvision", "lightning", "torchmetrics", "numpy", "hydra-core")


def installed_versions() -> dict[str, str]:
    return {"python": platform.python_version()} | {package: version(package) for package in PACKAGES}


def current_commit() -> str | None:
    """The commit of the checkout this package runs from, marked when it has been changed; None for an installed one."""
    checkout = Path(__file__).parents[2]
    if not (checkout / ".git").exists():
        return None
    command = ["git", "-C", str(checkout), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
