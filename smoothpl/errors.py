"""Errors for people: one message, without a traceback."""


class ConfigError(ValueError):
    """What was asked for cannot be done. The message names the key, its value, the rule and the way out."""


class DivergenceError(ArithmeticError):
    """The loss is not finite. The message names the step and the terms."""


class Interruption(KeyboardInterrupt):
    """Somebody or something asked the run to stop; it can be resumed. The message says who.

    `wants_labels`: more labels before it is resumed are the reason to stop.
    """

    def __init__(self, by: str, wants_labels: bool = False) -> None:
        super().__init__(by)
        self.wants_labels = wants_labels


def require(holds: bool, message: str) -> None:
    if not holds:
        raise ConfigError(message)
