"""What --help says of knobs and groups, from the schema and from the files in conf/."""

import sys
from collections.abc import Sequence

from hydra import compose, initialize_config_dir

from smoothpl.config.knobs import conf_dir


def asks_for_help(arguments: Sequence[str]) -> bool:
    """Help, with nothing but knobs besides; with other flags it is Hydra's business."""
    flags = [each for each in arguments if each.startswith("-")]
    return bool(flags) and {*flags} <= {"--help", "-h"}


def show_help(arguments: Sequence[str]) -> None:
    """What Hydra would print. It would first list all groups in a way of its own, which takes it a second."""
    overrides = [each for each in arguments if not each.startswith("-")]
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        config = compose("train", overrides=overrides, return_hydra_config=True)
    sys.stdout.write(f"{config.hydra.help.template}\n")
