"""How much memory this machine has, as far as it can be known without asking libraries."""

import os
from contextlib import suppress
from pathlib import Path

LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where Linux keeps the limit of a container."""


def machine_memory() -> int | None:
    """Bytes that a process could have at most, swap included; None where the system does not tell."""
    try:
        installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
    limits = [found for found in map(limit_in, LIMITS) if found is not None]
    return min([installed, *limits]) + swap(Path("/proc/meminfo"))


def limit_in(place: str) -> int | None:
    with suppress(OSError, ValueError):  # not Linux, or the word max
        return int(Path(place).read_text())
    return None


def swap(facts: Path) -> int:
    with suppress(OSError):
        for line in facts.read_text().splitlines():
            if line.startswith("SwapTotal:"):
                return 1024 * int(line.split()[1])
    return 0


def spelled(number_of_bytes: float) -> str:
    units = {"kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
    unit = next((each for each, size in units.items() if number_of_bytes < 1000 * size), "TB")
    number = number_of_bytes / units[unit]
    return f"{number:,.{0 if number >= 10 else 1}f} {unit}"
