"""What a run leaves behind: the layout of its directory, and run.json."""
