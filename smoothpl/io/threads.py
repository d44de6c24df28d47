"""How torch's threads wait for each other: soon asleep, so that the machine can be shared."""

import os
import sys

POLITE = {"GOMP_SPINCOUNT": "1000"}
"""Some microseconds. Those that sleep at once (OMP_WAIT_POLICY=passive) cost a step of small operations three quarters
of its time more where nobody else needs the core (docs/performance.md)."""
OWN = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "KMP_LIBRARY")
"""Variables by which somebody has decided it for OpenMP: the standard's, GNU's, and those of Intel's and LLVM's."""


def wait_politely() -> None:
    """Lets threads sleep that wait for long, unless the environment says otherwise. Before torch is imported: OpenMP
    reads its settings once, when it is loaded; later, nothing is changed.

    By default they spin for some milliseconds at the end of every operation. Where another process has taken one of
    their cores, they spin on the cores that this one is waiting for: a step then takes several times as long.
    """
    if "torch" not in sys.modules and not any(name in os.environ for name in OWN):
        os.environ.update(POLITE)
