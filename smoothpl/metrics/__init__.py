"""What is measured of a classifier: confusion, collapse, reliability, instability, the interval of an error."""
