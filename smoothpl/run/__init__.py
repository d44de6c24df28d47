"""A run: from composed configuration to record."""
