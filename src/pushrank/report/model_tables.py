"""What was found, in words and in two tables: the verdict, the measures, the differences."""

from __future__ import annotations

from pushrank.report.findings import RESAMPLES, Findings, Measured
from pushrank.report.markup import Markup, tag, together
from pushrank.report.table import count, number, table

SMALLEST_P = 0.001
"""Smaller p-values are not written out."""


def sentences(findings: Findings) -> tuple[str, str, str]:
    """Return which model is best at the top, what it finds, and whether the difference is real."""
    depth, best, rival, found = findings.depth, findings.best, findings.rival, findings.against_rival
    against = rival if rival == findings.baseline or findings.none_is_better else f"{rival}, the next best"
    if found.low == found.high == 0.0:
        answer = "There is no difference between the two."
    elif found.low > 0.0:
        answer = "The difference is real: it is more than chance explains."
    elif found.high < 0.0:
        answer = f"With all test parts in one list, {rival} is ahead by more than chance explains."
    else:
        answer = "These data do not tell the two apart: chance alone may explain the difference."
    equals = "" if found.p_value < SMALLEST_P else "= "
    if findings.none_is_better:
        first, whose = "No model is better at the top than another.", best
    elif rival in findings.equals:
        decided = "average precision decides between equals"
        first, whose = (
            f"Best at the top: {best}, no better than {rival} over the test parts; {decided}.",
            best,
        )
    else:
        first, whose = f"Best at the top: {best}.", "it"
    return (
        first,
        f"Of the {depth:,} rows that {whose} ranks first, {count(findings.hits(best))} are hits; of the "
        f"first {depth:,} by {against}, {count(findings.hits(rival))} are. Picked blindly, "
        f"{depth * findings.base_rate:,.0f} would be.{_ties(findings)}",
        f"{answer} {_signed(found.difference)} hits in {depth:,} rows, 95 % interval {_signed(found.low)} to "
        f"{_signed(found.high)}, p {equals}{_p_value(found.p_value)}.",
    )


def _ties(findings: Findings) -> str:
    """Return which list is tied where it is cut, and how such rows count."""
    tied = {model: findings.tied_at(model, findings.depth) for model in (findings.best, findings.rival)}
    cut = " and ".join(f"{rows:,} by {model}" for model, rows in tied.items() if rows)
    return (
        f" Where the list is cut, rows tie ({cut}) and count by the average over their orders." if cut else ""
    )


def verdict(findings: Findings) -> Markup:
    """Return the verdict, and how far it goes."""
    return tag(
        "section",
        *(tag("p", sentence) for sentence in sentences(findings)),
        tag("p", _expectation(findings), class_="quiet"),
        class_="verdict",
        id="verdict",
        aria_label="Verdict",
    )


def measures(findings: Findings) -> Markup:
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


def differences(findings: Findings) -> Markup:
    """Return the best model against every other."""
    return together(
        table(
            f"{findings.best} against the others: hits among the first {findings.depth:,} rows",
            ("against", "hits more or less", "95 % interval", "p-value", "more than chance?"),
            (
                (
                    found.model,
                    number(_signed(found.difference)),
                    number(f"{_signed(found.low)} to {_signed(found.high)}"),
                    number(_p_value(found.p_value)),
                    "yes" if found.is_real else "no",
                )
                for found in findings.differences
            ),
        ),
        tag(
            "p",
            f"Paired bootstrap of the rows, {RESAMPLES:,} resamples; intervals and p-values hold for all "
            f"{len(findings.differences)} comparisons together (Bonferroni). They compare these lists of "
            "these rows: how much a model changes with its training data shows in the standard errors above.",
            class_="quiet",
        ),
    )


def _expectation(findings: Findings) -> str:
    """Return how far the figures go on new rows."""
    said = "All figures are of rows that a model had not seen when it ranked them"
    if not findings.none_is_better:
        said += (
            f". The best of {len(findings.models)} models was chosen by the same figures, so expect a little "
            "less of it on new rows"
        )
    if findings.chosen_inside is None:
        return f"{said}."
    measure, value = findings.chosen_inside
    found = _measured(value, _digits(findings, measure))
    return f"{said}: choosing anew inside every training part gives {found} ({measure})."


def _p_value(p_value: float) -> str:
    return f"< {SMALLEST_P:g}" if p_value < SMALLEST_P else f"{p_value:.3f}"


def _digits(findings: Findings, measure: str) -> int:
    """Return how many digits a measure has, the same for every model: few where it counts rows."""
    counts = any(measures[measure].mean > 1.0 for measures in findings.measures.values())
    return 1 if counts else 3


def _measured(measured: Measured, digits: int) -> str:
    return f"{measured.mean:.{digits}f} ± {measured.standard_error:.{digits}f}"


def _signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", "−")
