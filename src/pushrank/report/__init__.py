"""A comparison of rankings as one HTML file that needs nothing else: no network, no library, no Python."""

from pushrank.report.context import Difference, Measured, ReportData
from pushrank.report.model_tables import sentences
from pushrank.report.page import render, write_report

__all__ = ["Difference", "Measured", "ReportData", "render", "sentences", "write_report"]
