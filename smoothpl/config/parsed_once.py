"""conf/ for Hydra, which reads every file again whenever it composes: here a process parses a file once.

Hydra composes twice before a run starts, a sweep once more for every job, and `smoothpl jobs` for every line of its
table. Half of what that takes went into parsing the same files, and into a table for interpolated choices that only
files with such choices look at.
"""

import os
import pickle
from functools import cache

from hydra._internal import defaults_list as tree
from hydra._internal.core_plugins import file_config_source
from hydra._internal.sources_registry import SourcesRegistry
from hydra.core.default_element import InputDefault
from hydra.plugins.config_source import ConfigResult
from omegaconf import DictConfig, OmegaConf


class FileConfigSource(file_config_source.FileConfigSource):
    """Named as Hydra's own: then Hydra, when it lists its plugins later, leaves this one where it is."""

    def load_config(self, config_path: str) -> ConfigResult:
        full = os.path.join(self.path, self._normalize_file_name(config_path))
        if not os.path.isfile(full):
            return super().load_config(config_path)  # which says what is missing
        about = os.stat(full)
        kept = parsed(self.provider, self.path, config_path, (about.st_mtime_ns, about.st_size))
        found: ConfigResult = pickle.loads(kept)
        return found


@cache
def parsed(provider: str, place: str, config_path: str, _version: tuple[int, int]) -> bytes:
    """Pickled: Hydra takes the defaults list out of what it gets, and a deep copy would take five times as long."""
    return pickle.dumps(file_config_source.FileConfigSource(provider, place).load_config(config_path))


known_choices = tree._create_interpolation_map


def choices_if_asked(overrides: tree.Overrides, defaults_list: list[InputDefault], self_added: bool) -> DictConfig:
    """What all groups are set to, which Hydra makes for every file; only interpolated choices look it up."""
    asked = any(each.is_interpolation() for each in defaults_list)
    return known_choices(overrides, defaults_list, self_added) if asked else OmegaConf.create()


def parse_once() -> None:
    """For all that Hydra composes in this process from now on; safe to call twice."""
    SourcesRegistry.instance().types["file"] = FileConfigSource
    tree._create_interpolation_map = choices_if_asked
