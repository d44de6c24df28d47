"""What the server of tests/support/processes.py has at hand for the processes that are forked from it.

All modules of a run are imported, conf/ is parsed, and Hydra knows its plugins: a quarter of what a short run takes.
"""

import gc
from importlib import import_module

from smoothpl.config.compose import compose_checked
from smoothpl.run.build import build_module

for name in (
    "hydra._internal.core_plugins.basic_launcher",
    "sklearn.datasets",
    "smoothpl.results.run_picture",
    "smoothpl.results.summary",
    "smoothpl.run.command_line",
    "smoothpl.run.sweep",
    "smoothpl.run.training",
    "smoothpl.run.verdict",
):
    import_module(name)
build_module(compose_checked(["method=smooth", "max_steps=4", "optim.learning_rate=0.01"]))
gc.collect()
gc.freeze()  # a collection in a forked process would copy all of this
