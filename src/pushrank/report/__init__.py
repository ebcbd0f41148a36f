"""Rankings compared or measured, as a single HTML file that needs no network, script or Python."""

from pushrank.report.context import MeasurementData, ReportData, sentences
from pushrank.report.page import render, write_report
from pushrank.report.watching import WatchData

__all__ = ["MeasurementData", "ReportData", "WatchData", "render", "sentences", "write_report"]
