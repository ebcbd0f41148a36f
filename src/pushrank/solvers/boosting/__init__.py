"""Boosting as coordinate descent."""
