"""From confusion to record: what a run leaves behind, and how it is read."""
