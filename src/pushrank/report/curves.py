"""The pictures of a report: the same numbers as those of the displays in ``pushrank.plots``."""

from __future__ import annotations

from pushrank.plots import CumulativeGainsDisplay, PrecisionAtKDisplay, RocLeftEdgeDisplay
from pushrank.report.chart import Chart, Series
from pushrank.report.context import ReportData


def curves(findings: ReportData) -> list[Chart]:
    """Return the charts of all models, the best and its rival first."""
    return [_precision(findings), _gains(findings), _left_edge(findings)]


def _models(findings: ReportData) -> list[str]:
    first = [findings.best, findings.rival]
    return list(dict.fromkeys([*first, *findings.models]))


def _precision(findings: ReportData) -> Chart:
    displays = {
        model: PrecisionAtKDisplay.compute(findings.y, findings.held_out[model])
        for model in _models(findings)
    }
    return Chart(
        key="precision",
        title="How many of the first rows are hits?",
        caption=(
            "Precision at k, for every k: the further right, the further down the list. Shaded, for the two "
            "models compared above: 95 % intervals (Wilson's, at each k by itself). On the right every model "
            f"ends at the share of hits among all rows, {100 * findings.base_rate:.3g} %."
        ),
        x=next(iter(displays.values())).k,
        scale="log",
        x_title="rows looked at, from the top of the list",
        y_title="share of them that are hits",
        place="{} rows looked at",
        series=[Series(model, d.precision, d.low, d.high) for model, d in displays.items()],
    )


def _gains(findings: ReportData) -> Chart:
    displays = {
        model: CumulativeGainsDisplay.compute(findings.y, findings.held_out[model])
        for model in _models(findings)
    }
    return Chart(
        key="gains",
        title="How much of the list must be looked at to find them all?",
        caption=(
            "Cumulative gains: a list in random order would give a straight line from corner to corner, a "
            f"perfect one would be at the top after {100 * findings.base_rate:.3g} % of the list."
        ),
        x=next(iter(displays.values())).looked_at,
        scale="linear",
        x_title="part of the list looked at",
        y_title="share of all hits found",
        place="{} of the list looked at",
        series=[Series(model, d.found) for model, d in displays.items()],
        percent=True,
    )


def _left_edge(findings: ReportData) -> Chart:
    displays = {
        model: RocLeftEdgeDisplay.compute(findings.y, findings.held_out[model]) for model in _models(findings)
    }
    return Chart(
        key="left-edge",
        title="How many hits are found before the first false alarms?",
        caption=(
            "The left edge of the ROC curve: rows that are no hits count as false alarms. At 0, the hits "
            "that stand above all of those. Shaded: 95 % intervals, at each place by itself."
        ),
        x=next(iter(displays.values())).false_alarms,
        scale="log1p",
        x_title="false alarms met on the way down the list",
        y_title="share of all hits found",
        place="{} false alarms",
        series=[Series(model, d.tpr, d.low, d.high) for model, d in displays.items()],
    )
