"""Rows wherever they lie: what solvers ask of a source, and the source in memory."""

from pushrank.rows.memory import MemoryRows, spread_rows
from pushrank.rows.source import RowSource

__all__ = ["MemoryRows", "RowSource", "spread_rows"]
