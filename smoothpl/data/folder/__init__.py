"""A folder of one's own: which files are images, which of them have labels, which are for testing."""
