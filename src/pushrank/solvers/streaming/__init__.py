"""Learning from batches."""
