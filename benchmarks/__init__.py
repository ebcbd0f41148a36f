"""Scripts that measure speed, each by the command in its first lines."""
