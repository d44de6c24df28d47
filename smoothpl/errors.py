"""Errors that are for people: told in one message, without a traceback."""


class ConfigError(ValueError):
    """What was asked for cannot be done. The message names the knob, its value, the rule and the way out."""


class DivergenceError(ArithmeticError):
    """The loss is no number any more. The message names the step and the terms."""


class Interruption(KeyboardInterrupt):
    """Somebody or something asked the run to stop; it can be continued. The message says who."""


def require(holds: bool, message: str) -> None:
    if not holds:
        raise ConfigError(message)
