"""Files of rows: opened once, read into a table, and their columns and labels checked."""
