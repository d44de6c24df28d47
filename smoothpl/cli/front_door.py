"""The front door of every command: what a user got wrong is one message, without a traceback."""

import difflib
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import hydra
from hydra.errors import HydraException, InstantiationException, MissingConfigException
from omegaconf import DictConfig
from omegaconf.errors import (
    ConfigAttributeError,
    ConfigKeyError,
    MissingMandatoryValue,
    OmegaConfBaseException,
    ValidationError,
)

from smoothpl.errors import ConfigError, DivergenceError


def run_command(command: Callable[[], None]) -> None:
    """Runs a Hydra command; exit code 1 and a readable message when it cannot be done."""
    if "HYDRA_FULL_ERROR" in os.environ:  # Hydra's own switch for those who want to see everything
        return command()
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra hands exceptions over instead of printing them
    try:
        return command()
    except (ConfigError, DivergenceError, HydraException, OmegaConfBaseException) as error:
        sys.exit(f"\n{explain(error)}")
    except BrokenPipeError:  # whoever read it has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        if error.filename is None:  # while writing: a disk that is full
            sys.exit(
                f"\n{error.strerror}; what was written before is complete. Make room, and continue with resume=auto."
            )
        way_out = "name a place that can be written to (hydra.run.dir, hydra.sweep.dir or out)"
        sys.exit(f"\n{error.filename}: {error.strerror}; {way_out}.")
    except ValueError as error:
        if is_of_hydra(error):  # its word on the command line
            sys.exit(f"\n{error}; --help lists the groups and their options.")
        raise
    except KeyboardInterrupt:
        sys.exit("\ninterrupted.")


def is_of_hydra(error: Exception) -> bool:
    """Whether Hydra's own code has raised it, wherever that is installed."""
    raised_in = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
    return raised_in.is_relative_to(Path(hydra.__file__).parent)


def explain(error: BaseException) -> str:
    """The innermost thing that a person can act on, in one sentence."""
    for cause in causes(error):
        match cause:
            case ConfigError():
                return str(cause).rpartition("ConfigError: ")[2].strip()  # from a worker it comes with a traceback
            case MissingConfigException(missing_cfg_file=str(file), options=[*options]):
                group, _, option = file.rpartition("/")
                return f"{group}={option} is not an option; {group} is one of {', '.join(sorted(options))}."
            case MissingMandatoryValue():
                return f"{cause.full_key} has no value yet; give it one: {cause.full_key}=..."
            case ConfigKeyError() | ConfigAttributeError() if isinstance(cause.parent_node, DictConfig):
                return unknown_key(
                    str(cause.full_key),
                    [str(key) for key in cause.parent_node if key not in ("hydra", "_target_", "_partial_")],
                )
            case ValidationError():
                return f"{cause.full_key}: {str(cause).splitlines()[0]}."
            case ValueError() if isinstance(error, InstantiationException):  # a part's own word on its own key
                return str(cause)
    return str(error)


def unknown_key(full_key: str, known: list[str]) -> str:
    owner, _, name = full_key.rpartition(".")
    if not known:
        return f"{full_key} is not a knob: this {owner} has none."
    near = difflib.get_close_matches(name, known, n=1)
    advice = f"did you mean {'.'.join(filter(None, [owner, near[0]]))}?" if near else f"known are {', '.join(known)}."
    return f"{full_key} is not a knob: {advice}"


def causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
