"""A comparison of models, or a model in use, as one HTML file that needs no network, script or Python."""

from pushrank.report.context import ReportData
from pushrank.report.page import render, write_report
from pushrank.report.watching import WatchData

__all__ = ["ReportData", "WatchData", "render", "write_report"]
