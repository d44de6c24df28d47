"""A trained run in use: predictions, exported files, suggestions what to label next. Imports no Lightning."""
