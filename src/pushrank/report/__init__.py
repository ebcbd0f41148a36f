"""Rankings compared or measured, as a single HTML file that needs no network, script or Python."""

from pushrank.report.context import MeasurementData, ReportData, sentences
from pushrank.report.page import render, write_report

__all__ = ["MeasurementData", "ReportData", "render", "sentences", "write_report"]
