"""The one kind of error that is the user's to mend."""


class ConfigError(ValueError):
    """What was asked for cannot be done. The message names the knob, its value, the rule and the way out."""
