"""Files and processes: whole files or none, digests, the cache, cells of spreadsheets, workers."""
