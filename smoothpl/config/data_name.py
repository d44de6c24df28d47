"""What a run's data are called, in paths, records and reports: as their benchmark, or as they call themselves."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from smoothpl.config.knobs import conf_dir


def data_name(config: Mapping[str, Any]) -> str:
    """The benchmark, if its data are what is learned from. A composed configuration, or that of an older record.

    Where only some classes are known it says which: errors over others are of another task.
    """
    known = (config.get("unlabeled") or {}).get("known")
    return name_of_all(config) + ("" if known is None else f"_known={plain_name(str(known))}")


def name_of_all(config: Mapping[str, Any]) -> str:
    """With all of their classes."""
    data, benchmark = config.get("data") or {}, str(config["benchmark"])
    target = (data.get("source") or {}).get("_target_")
    if target is None or source_of_benchmark(benchmark) in (None, target):
        return benchmark
    own = data.get("name") or (data.get("root") if "images_digest" in data else None) or target.rpartition(".")[2]
    return plain_name(str(own))


@cache
def source_of_benchmark(benchmark: str) -> str | None:
    """What opens the data of a benchmark in conf/; empty if they are anybody's, None if the benchmark is one's own."""
    path = conf_dir() / "benchmark" / f"{benchmark}.yaml"
    if not path.is_file():
        return None
    defaults = OmegaConf.load(path).defaults
    named = next((each["override /data"] for each in defaults if "override /data" in each), None)
    if named is None:  # it is a variant of another one
        return source_of_benchmark(defaults[0])
    written = OmegaConf.load(conf_dir() / "data" / f"{named}.yaml")
    assert OmegaConf.is_dict(written)
    return "" if OmegaConf.is_missing(written, "root") else str(written.source["_target_"])


def plain_name(place: str) -> str:
    """The last part of a path, or a name, without what a path or a terminal would stumble over."""
    last = Path(place).expanduser().absolute().name if "/" in place or place in (".", "..", "~") else place
    return re.sub(r"[^\w.-]+", "_", last).strip("._") or "data"
