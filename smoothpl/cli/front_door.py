"""The front door of every command: what a user got wrong is one message, without a traceback."""

import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hydra
from hydra.errors import ConfigCompositionException, HydraException, InstantiationException, MissingConfigException
from omegaconf import DictConfig
from omegaconf.errors import (
    ConfigAttributeError,
    ConfigKeyError,
    InterpolationKeyError,
    MissingMandatoryValue,
    OmegaConfBaseException,
    ValidationError,
)

from smoothpl.cli.near import unknown_key, unknown_option
from smoothpl.errors import ConfigError, DivergenceError
from smoothpl.io.escapes import printable

usual_format = warnings.formatwarning


def run_command(command: Callable[[], None]) -> None:
    """Runs a Hydra command; exit code 1 and a readable message when it cannot be done."""
    warnings.formatwarning = format_warning
    if "HYDRA_FULL_ERROR" in os.environ:  # Hydra's own switch for those who want to see everything
        return command()
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra hands exceptions over instead of printing them
    try:
        return command()
    except (ConfigError, DivergenceError, HydraException, OmegaConfBaseException) as error:
        sys.exit(explain(error))
    except BrokenPipeError:  # whoever read it has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        sys.exit(of_files(error))
    except ValueError as error:
        if is_of_hydra(error):  # its word on the command line
            sys.exit(f"{one_line(str(error))}; --help lists the groups and their options.")
        raise
    except KeyboardInterrupt:
        sys.exit("\ninterrupted.")


def format_warning(*facts: Any, **more: Any) -> str:
    """A library's warning may quote a name: Matplotlib does, of letters that no font has."""
    return printable(usual_format(*facts, **more))


def of_files(error: OSError) -> str:
    if error.filename is None:  # while writing: a disk that is full
        return f"{error.strerror}; what was written before is complete. Make room, and continue with resume=auto."
    way_out = "name a place that can be written to (hydra.run.dir, hydra.sweep.dir or out)"
    return one_line(f"{error.filename}: {error.strerror}; {way_out}.")


def is_of_hydra(error: Exception) -> bool:
    """Whether Hydra's own code has raised it, wherever that is installed."""
    raised_in = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
    return raised_in.is_relative_to(Path(hydra.__file__).parent)


def explain(error: BaseException) -> str:
    """The innermost thing that a person can act on, in one line."""
    return one_line(sentence(error))


def sentence(error: BaseException) -> str:
    for cause in causes(error):
        match cause:
            case ConfigError():
                return str(cause).rpartition("ConfigError: ")[2].strip()  # from a worker it comes with a traceback
            case MissingConfigException(missing_cfg_file=str(file), options=[*options]):
                return unknown_option(file, options)
            case MissingMandatoryValue():
                return f"{cause.full_key} has no value yet; give it one: {cause.full_key}=..."
            case ConfigKeyError() | ConfigAttributeError() if isinstance(cause.parent_node, DictConfig):
                return unknown_key(str(cause.full_key), cause.parent_node)
            case ValidationError():
                return f"{cause.full_key}: {str(cause).splitlines()[0].rstrip('.')}."
            case InterpolationKeyError():
                needed = str(cause).split("'")[1]
                return f"{needed} is needed by {cause.full_key}, and is not there; set it, or use another option."
            case ValueError() if isinstance(error, InstantiationException):  # a part's own word on its own key
                return str(cause)
    if isinstance(error, InstantiationException):
        return of_part(error)
    # Hydra wraps what OmegaConf says into an exception without words, and OmegaConf adds lines for programmers.
    said = next((text for each in causes(error) if (text := str(each).strip())), type(error).__name__)
    return said.splitlines()[0] if isinstance(error, ConfigCompositionException | OmegaConfBaseException) else said


def of_part(error: InstantiationException) -> str:
    """What a library has said about its own arguments: Hydra writes it between the target and the key."""
    target, *reason = str(error).splitlines()
    key = next((line.partition(": ")[2] for line in reason if line.startswith("full_key: ")), "")
    said = [line for line in reason if not line.startswith("full_key: ")]
    return f"{key}: {' '.join(said or [target])}" if key else f"{target} {' '.join(said)}"


def one_line(text: str) -> str:
    return printable(" ".join(line.strip() for line in text.splitlines() if line.strip()))


def causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
