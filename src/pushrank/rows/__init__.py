"""Rows wherever they lie: what solvers ask of a source, and the sources in memory and on disk."""

from pushrank.rows.disk import StoredRows
from pushrank.rows.memory import MemoryRows, spread_rows
from pushrank.rows.source import OuterRows, RowSource

__all__ = ["MemoryRows", "OuterRows", "RowSource", "StoredRows", "spread_rows"]
