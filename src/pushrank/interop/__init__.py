"""The edges: one file for each dependency that the core does without."""
