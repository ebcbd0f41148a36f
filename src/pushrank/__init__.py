"""pushrank: learn to rank so that the top of the list is right."""
