"""A comparison as a report: one HTML file that opens anywhere."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path

from pushrank.cli.categories import MOST_CATEGORIES
from pushrank.cli.comparison import BASELINE, CHOSEN, Comparison, contestants, on_one_scale
from pushrank.cli.comparison_table import verdict
from pushrank.cli.design import Design
from pushrank.cli.errors import InputError, writing
from pushrank.cli.labelled import Labelled
from pushrank.cli.models import penalty
from pushrank.cli.nested import CHOSEN_PUSH, choosing_push
from pushrank.report import Measured, ReportData, write_report


def check_report_kind(path: Path) -> None:
    """Raise when a report cannot be a file of this name.

    Raises
    ------
    InputError
        When the extension is not .html or .htm.
    """
    if path.suffix.lower() not in {".html", ".htm"}:
        raise InputError(f"{path}: a report is written as .html; choose such a name.")


def write_comparison_report(path: Path, rows: Labelled, comparison: Comparison, design: Design) -> ReportData:
    """Write the report, whole or not at all, and return what is in it.

    Raises
    ------
    InputError
        When it cannot be written.
    """
    depth = design.budget or max(1, round(0.25 * int(rows.y.sum())))
    candidates = {model: scores for model, scores in comparison.scores.items() if model != CHOSEN}
    measures = {
        model: {
            comparison.name_of(measure): Measured(
                comparison.mean(model, measure), comparison.standard_error(model, measure)
            )
            for measure in measures
        }
        for model, measures in comparison.values.items()
    }
    findings = ReportData(
        title=rows.table.path.name,
        y=rows.y,
        held_out={model: on_one_scale(scores, comparison.parts) for model, scores in candidates.items()},
        scores=candidates,
        best=comparison.best(),
        baseline=BASELINE,
        rival=comparison.rival(),
        depth=depth,
        verdict=verdict(comparison),
        criterion=comparison.name_of(comparison.criterion),
        differences=comparison.differences(),
        measures=measures,
        rows=rows.shown,
        settings=_settings(rows, design, depth),
        meaning=rows.meaning,
        warnings=comparison.warned,
        seed=design.seed,
        none_is_better=comparison.none_is_better,
    )
    with writing(path):
        write_report(findings, path)
    return findings


def _settings(rows: Labelled, design: Design, depth: int) -> dict[str, str]:
    of_rows = _of_sparse_rows(rows) if rows.table.is_sparse else _of_table(rows)
    times = f", {design.repeats} times; curves and rows from the first" if design.repeats > 1 else ""
    why = "the budget" if design.budget else "a quarter as many as there are hits"
    packages = [f"{name} {version(name)}" for name in ("pushrank", "scikit-learn", "numpy")]
    return {
        "File": rows.table.path.name,
        "Rows": f"{len(rows.y):,}",
        "Hits": f"{int(rows.y.sum()):,}, the rows with {rows.meaning}",
        **of_rows,
        "Models judged by": f"hits among the first {depth:,} rows ({why})",
        "Cross-validation": f"{design.folds} stratified parts{times}",
        "Choice inside every training part": "yes" if design.nested else "no",
        "Seed": str(design.seed),
        "Strengths of the push, p": ", ".join(f"{power:g}" for power in design.powers),
        "L2 strength of the rankers, alpha": _alphas(rows, design),
        "Versions": ", ".join([*packages, f"Python {platform.python_version()}"]),
    }


def _alphas(rows: Labelled, design: Design) -> str:
    sparse = rows.table.is_sparse
    models = contestants(design.powers, sparse=sparse).values()
    used = {penalty(model, design.alpha, sparse=sparse) for model in models}
    said = ", ".join(f"{alpha:g}" for alpha in sorted(alpha for alpha in used if alpha is not None))
    if not design.nested:
        return said
    choices = choosing_push(design, len(rows.y)).alphas
    return f"{said}; {CHOSEN_PUSH}: one of {', '.join(f'{alpha:g}' for alpha in choices)}"


def _of_table(rows: Labelled) -> dict[str, str]:
    features = rows.table.frame[[*rows.numeric, *rows.categorical]]
    return {
        "Features": rows.said_of_features,
        **({"Columns left out": ", ".join(rows.excluded)} if rows.excluded else {}),
        "Missing values": f"{100 * float(features.isna().to_numpy().mean()):.3g} %",
        "Preprocessing": "missing values imputed, numbers scaled, text one-hot encoded (all but the "
        f"{MOST_CATEGORIES - 1} most frequent values of a column as one), within each fit",
    }


def _of_sparse_rows(rows: Labelled) -> dict[str, str]:
    return {
        "Features": f"{rows.features.shape[1]:,}, sparse",
        "Preprocessing": "columns scaled by their largest absolute value, within each fit",
    }
