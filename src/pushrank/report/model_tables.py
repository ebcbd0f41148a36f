"""What was found, in words and in tables: the verdict, the measures, the differences."""

from __future__ import annotations

from pushrank.report.context import RESAMPLES, Measured, ReportData
from pushrank.report.markup import Markup, tag, together
from pushrank.report.table import count, number, table

SMALLEST_P = 0.001
"""Smaller p-values are not written out."""
ANSWERS = {True: "yes", False: "no", None: "too few test parts to tell"}


def sentences(findings: ReportData) -> tuple[str, str]:
    """Return the verdict, and how many hits the two lists have that it speaks of."""
    depth, best, rival = findings.depth, findings.best, findings.rival
    return (
        findings.verdict,
        f"Of the {depth:,} rows that {best} ranks first, {count(findings.hits(best))} are hits; of the "
        f"first {depth:,} by {rival}, {count(findings.hits(rival))} are. Picked blindly, "
        f"{depth * findings.base_rate:,.0f} would be.{_ties(findings)}",
    )


def _ties(findings: ReportData) -> str:
    """Return which list is tied where it is cut, and how such rows count."""
    tied = {model: findings.tied_at(model, findings.depth) for model in (findings.best, findings.rival)}
    cut = " and ".join(f"{rows:,} by {model}" for model, rows in tied.items() if rows)
    return (
        f" Where the list is cut, rows tie ({cut}) and count by the average over their orders." if cut else ""
    )


def verdict(findings: ReportData) -> Markup:
    """Return the verdict, and how far it goes."""
    return tag(
        "section",
        *(tag("p", sentence) for sentence in sentences(findings)),
        tag("p", _expectation(findings), class_="quiet"),
        class_="verdict",
        id="verdict",
        aria_label="Verdict",
    )


def measures(findings: ReportData) -> Markup:
    """Return the measures of every model, with standard errors over the test parts."""
    names = list(next(iter(findings.measures.values())))
    digits = {name: _digits(findings, name) for name in names}
    return table(
        "Means over the test parts of the cross-validation ± their standard errors",
        ("model", *names),
        (
            (
                tag("strong", f"{model} (best at the top)")
                if model == findings.best and not findings.none_is_better
                else model,
                *(number(_measured(findings.measures[model][name], digits[name])) for name in names),
            )
            for model in dict.fromkeys([*findings.models, *findings.measures])
        ),
    )


def differences(findings: ReportData) -> Markup:
    """Return the best model against every other: what the verdict rests on."""
    digits = _digits(findings, findings.criterion)
    return together(
        table(
            f"{findings.best} against the others over the test parts: {findings.criterion}",
            ("against", "more or less", "95 % interval", "more than chance?"),
            (
                (
                    model,
                    number(_signed(found.mean, digits)),
                    number(f"{_signed(found.low, digits)} to {_signed(found.high, digits)}"),
                    ANSWERS[found.more_than_chance],
                )
                for model, found in findings.differences.items()
            ),
        ),
        tag(
            "p",
            "Student's t over the test parts, each comparison by itself: it sees both which rows were drawn "
            "and how a model changes with its training data.",
            class_="quiet",
        ),
    )


def list_differences(findings: ReportData) -> Markup:
    """Return the best model's list against every other, as they are."""
    return together(
        table(
            f"These lists alone: hits among the first {findings.depth:,} rows",
            ("against", "hits more or less", "95 % interval", "p-value"),
            (
                (
                    found.model,
                    number(_signed(found.difference, 1)),
                    number(f"{_signed(found.low, 1)} to {_signed(found.high, 1)}"),
                    number(_p_value(found.p_value)),
                )
                for found in findings.list_differences
            ),
        ),
        tag(
            "p",
            f"Paired bootstrap of the rows, {RESAMPLES:,} resamples; intervals and p-values hold for all "
            f"{len(findings.list_differences)} comparisons together (Bonferroni). It says how these rankings "
            "of these rows would vary, not how the models would after another training; the verdict does not "
            "rest on it.",
            class_="quiet",
        ),
    )


def _expectation(findings: ReportData) -> str:
    """Return how far the figures go on new rows."""
    said = "All figures are of rows that a model had not seen when it ranked them."
    if findings.none_is_better:
        return said
    return (
        f"{said} The best of {len(findings.models)} models was chosen by the same figures, so expect a "
        "little less of it on new rows."
    )


def _p_value(p_value: float) -> str:
    return f"< {SMALLEST_P:g}" if p_value < SMALLEST_P else f"{p_value:.3f}"


def _digits(findings: ReportData, measure: str) -> int:
    """Return how many digits a measure has, the same for every model: few where it counts rows."""
    counts = any(measures[measure].mean > 1.0 for measures in findings.measures.values())
    return 1 if counts else 3


def _measured(measured: Measured, digits: int) -> str:
    return f"{measured.mean:.{digits}f} ± {measured.standard_error:.{digits}f}"


def _signed(value: float, digits: int) -> str:
    return f"{value:+.{digits}f}".replace("-", "−")
