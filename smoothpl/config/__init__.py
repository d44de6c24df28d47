"""Configuration: the knobs, how conf/ is composed and checked, and what makes two runs the same recipe."""
