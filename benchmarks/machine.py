"""What a measurement was made on: with it and the lines, a file says all that somebody else needs to know."""

import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Any

import torch

from smoothpl.io.memory import machine_memory
from smoothpl.record.versions import installed_versions

WAITING = ("OMP_NUM_THREADS", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT")


def describe_machine() -> dict[str, Any]:
    """Asked before anything is measured: the load is then that of others."""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "usable_cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "capability": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
        "environment": {name: os.environ[name] for name in WAITING if name in os.environ},
        "load": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "memory": machine_memory(),
        "system": platform.platform(),
        "torch": torch.__version__,
        "versions": installed_versions(),
        "gpus": [describe_gpu(number) for number in range(torch.cuda.device_count())],
        "driver": driver(),
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version() if torch.cuda.is_available() else None,  # type: ignore[no-untyped-call]
    }


def describe_gpu(number: int) -> dict[str, Any]:
    properties = torch.cuda.get_device_properties(number)
    return {
        "name": properties.name,
        "memory": properties.total_memory,
        "capability": f"{properties.major}.{properties.minor}",
        "processors": properties.multi_processor_count,
    }


def driver() -> str | None:
    """NVIDIA's, of the first GPU."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        return None
    return told[0] if told else None


def processor() -> str:
    cpus = Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*: (.+)", cpus.read_text()) if cpus.exists() else []
    return names[0] if names else platform.processor()
