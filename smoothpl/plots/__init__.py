"""Plots that a run and its readers share."""
