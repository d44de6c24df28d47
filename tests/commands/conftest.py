"""Runs on the features of a tiny backbone, for commands that use a trained run."""

from tests.inference.conftest import folder_of_runs, on_features, on_folder

__all__ = ["folder_of_runs", "on_features", "on_folder"]
