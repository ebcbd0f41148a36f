"""What all floors stand on: checks, types, files, threads, numerics and texts that are shared."""
