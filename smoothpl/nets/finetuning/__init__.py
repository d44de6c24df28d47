"""Finetuning, between a backbone and its head: which weights of a trained network learn on, and how fast."""
