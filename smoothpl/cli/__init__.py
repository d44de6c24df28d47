"""The front door: arguments, overrides, help, messages, and errors for people."""
