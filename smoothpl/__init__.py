"""smoothpl: image classification with few labels, by smooth pseudo-labels."""
