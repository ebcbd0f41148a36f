"""A comparison of rankings as one HTML file that needs nothing else: no network, no library, no Python."""

from pushrank.report.findings import Difference, Findings, Measured
from pushrank.report.model_tables import sentences
from pushrank.report.page import render, write_report

__all__ = ["Difference", "Findings", "Measured", "render", "sentences", "write_report"]
