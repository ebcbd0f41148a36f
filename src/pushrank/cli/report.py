"""``pushrank report``: a comparison as one HTML file that you can share and that opens anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from sklearn.pipeline import Pipeline

from pushrank.cli import options
from pushrank.cli.comparison import Compared, ComparisonConfig, run_comparison
from pushrank.cli.features import FeatureSource, LabelledFeatures
from pushrank.cli.model import MAX_CATEGORIES
from pushrank.cli.table import TextFormat
from pushrank.cli.write import REPORTS_WRITTEN, check_output, versions, write_page
from pushrank.report import ReportData, sentences

MAX_NAMES = 100
"""The largest number of features that are listed by name."""


def report(
    source: FeatureSource,
    text_format: TextFormat,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to save the report (.html).")],
    config: ComparisonConfig,
    opened: options.Open = False,
    force: options.Force = False,
) -> None:
    """Compare models and write one HTML file that opens anywhere, offline.

    It says which model is best at the top and whether that could be chance, what a larger or smaller budget
    would find, and which columns drive the best ranking. It shows the curves, the top rows and the rows that
    the models disagree on. All figures are of rows that a model had not seen. With --nested it also says what
    the choice of the model achieves on rows that had no part in it.

    Example: pushrank report data.csv --label fraud --budget 100 -o report.html
    """
    check_output(output, REPORTS_WRITTEN, [source.data, config.test], force=force)
    report_data = write_comparison_report(
        output, run_comparison(source, text_format, config), config, opened=opened
    )
    typer.echo(" ".join(sentences(report_data)))
    typer.echo(f"The report is in {output}.")


def write_comparison_report(
    path: Path, compared: Compared, config: ComparisonConfig, *, opened: bool
) -> ReportData:
    """Write the report, whole or not at all, and return what is in it."""
    rows, comparison = compared.rows, compared.comparison.of_held_out_rows()
    is_held_out = compared.comparison.folds >= 0
    data = ReportData(
        comparison,
        rows.y[is_held_out],
        rows.table.to_show(rows.rows_to_show, config.show)[is_held_out],
        title=rows.table.path.name,
        meaning=rows.label_meaning,
        settings=_settings(compared, config),
        seed=config.seed,
        models=compared.models,
        # The columns that drive a ranking come from fits to all other parts. Rows of the past, and those to
        # learn from beside --test, are in no test part.
        X=rows.features if is_held_out.all() else None,
    )
    write_page(data, path, opened=opened)
    return data


def _settings(compared: Compared, config: ComparisonConfig) -> dict[str, str]:
    rows = compared.rows
    return {
        "File": rows.table.path.name,
        "Split": compared.split.description,
        **({} if config.weight is None else {"Rows count in fits for": config.weight}),
        **_feature_settings(rows),
        "Strengths of the push, p": ", ".join(f"{power:g}" for power in config.powers),
        "L2 strength of the rankers, alpha": _alphas(compared.models),
        "Versions": versions(),
    }


def _alphas(models: Mapping[str, Pipeline]) -> str:
    strengths = {model.named_steps["rank"].get_params().get("alpha") for model in models.values()}
    return ", ".join(f"{alpha:g}" for alpha in sorted(alpha for alpha in strengths if alpha is not None))


def _feature_settings(rows: LabelledFeatures) -> dict[str, str]:
    if rows.table.is_sparse:
        return {
            "Features": f"{rows.features.shape[1]:,}, sparse",
            "Preprocessing": "columns scaled by their largest absolute value, within each fit",
        }
    names = list(rows.features.columns)
    return {
        "Features": f"{rows.describe_features()}: {', '.join(names[:MAX_NAMES])}"
        + f" and {len(names) - MAX_NAMES:,} more" * (len(names) > MAX_NAMES),
        **({"Columns left out": ", ".join(rows.excluded)} if rows.excluded else {}),
        "Missing values": f"{100 * float(rows.features.isna().to_numpy().mean()):.3g} %",
        "Preprocessing": "missing values imputed, numbers scaled, text one-hot encoded "
        f"({MAX_CATEGORIES - 1} most frequent values; the rest share one column), within each fit",
    }
