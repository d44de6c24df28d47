"""Silences what libraries say and the user cannot act on."""

import logging
import warnings


def quiet_libraries() -> None:
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", message=".*LeafSpec.* is deprecated")  # between Lightning 2.6 and torch
    warnings.filterwarnings("ignore", message=".*smaller than the logging interval")  # the module sees to that
    # Steps are made in the main process on purpose: for small images it is faster than handing them over.
    warnings.filterwarnings("ignore", message=".*does not have many workers.*")
    # A backbone that is finetuned computes as it did when its features were taken.
    warnings.filterwarnings("ignore", message=".*in eval mode at the start of training.*")
    warnings.filterwarnings("ignore", message=".*broadcast_buffers.* is deprecated")  # its successor is too new
    warnings.filterwarnings("ignore", message=".*recommended to use `self.log.*sync_dist=True")  # it is synced before
