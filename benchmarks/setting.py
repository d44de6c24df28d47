"""What benchmarks measure on: data as a run with these knobs opens them."""

import os
import sys

from hydra import compose, initialize_config_dir

from smoothpl.build import build_data
from smoothpl.config import conf_dir, register
from smoothpl.data import SemiSupervisedData


def data_for(*knobs: str) -> SemiSupervisedData:
    data_folder()
    register()
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        data = build_data(compose("train", overrides=list(knobs)))
    data.setup("fit")
    return data


def data_folder() -> str:
    if "SMOOTHPL_DATA" not in os.environ:
        sys.exit("set the environment variable SMOOTHPL_DATA to the folder that holds cifar-10-batches-bin.")
    return os.environ["SMOOTHPL_DATA"]
