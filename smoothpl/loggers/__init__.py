"""Loggers: the curves of a run, which are always there, and the external loggers that were asked for."""

from smoothpl.loggers.curves import Curves
from smoothpl.loggers.external import ExternalLogger, external_loggers

__all__ = ["Curves", "ExternalLogger", "external_loggers"]
