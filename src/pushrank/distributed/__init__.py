"""Rankers and measures on the Dask collections of a cluster."""
