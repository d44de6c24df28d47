"""What benchmarks measure on: data as a run with these knobs opens them."""

import os
import sys

from smoothpl.config.compose import compose_checked
from smoothpl.data import SemiSupervisedData
from smoothpl.run.build import build_data


def data_for(*knobs: str) -> SemiSupervisedData:
    data_folder()
    data = build_data(compose_checked(knobs))
    data.setup("fit")
    return data


def data_folder() -> str:
    if "SMOOTHPL_DATA" not in os.environ:
        sys.exit("set the environment variable SMOOTHPL_DATA to the folder that holds cifar-10-batches-bin.")
    return os.environ["SMOOTHPL_DATA"]
