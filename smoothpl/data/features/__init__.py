"""Features, between views and batches: every view of every image through a frozen backbone, once."""
