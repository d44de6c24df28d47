"""The largest memory that this program has had."""

import re
from pathlib import Path


def peak_memory() -> int:
    """In megabytes. Not getrusage's, which begins with that of the process this one was started by (Linux)."""
    return status("VmHWM")


def memory_now() -> int:
    """In megabytes."""
    return status("VmRSS")


def status(name: str) -> int:
    match = re.search(rf"{name}:\s*(\d+) kB", Path("/proc/self/status").read_text())
    assert match is not None
    return int(match[1]) // 1024
