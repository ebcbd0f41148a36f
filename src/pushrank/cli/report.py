"""``pushrank report``: a comparison as one HTML file that you can share and that opens anywhere."""

from collections.abc import Sequence
from pathlib import Path

from pushrank.cli.comparison import Compared, run_comparison
from pushrank.cli.errors import say
from pushrank.cli.features import LabelledFeatures
from pushrank.cli.options import CompareOutput, ComparisonConfig, FeatureSource
from pushrank.cli.source.columns import MAX_CATEGORIES
from pushrank.cli.source.format import TextFormat
from pushrank.cli.write import versions, write_page
from pushrank.report import ReportData, sentences

MAX_NAMES = 100
"""The largest number of features that are listed by name."""


def write_report(
    source: FeatureSource, text_format: TextFormat, config: ComparisonConfig, output: CompareOutput, to: Path
) -> None:
    """Compare models and write one HTML file that opens anywhere, offline."""
    compared = run_comparison(source, text_format, config, output)
    say(" ".join(sentences(write_comparison_report(to, compared, config, opened=output.opened))))
    say(f"The report is in {to}.")


def write_comparison_report(
    path: Path, compared: Compared, config: ComparisonConfig, *, opened: bool, released: Sequence[str] = ()
) -> ReportData:
    """Write the report, whole or not at all, and return what is in it."""
    data, comparison = compared.data, compared.comparison.of_held_out_rows()
    is_held_out, numbers = compared.comparison.folds >= 0, {name: data.rows.X[name] for name in data.numeric}
    # Features of numbers are shown as numbers, all else as it is in the file.
    rows = data.table.frame.drop(columns=data.label).assign(**numbers)
    page = ReportData(
        comparison,
        data.y[is_held_out],
        data.table.to_show(rows, config.show)[is_held_out],
        title=data.table.path.name,
        meaning=data.label_meaning,
        settings=_settings(compared, config),
        seed=config.seed,
        models=compared.models,
        X=data.rows.X[is_held_out],
        released=released,
    )
    write_page(page, path, opened=opened)
    return page


def _settings(compared: Compared, config: ComparisonConfig) -> dict[str, str]:
    settings = {"File": compared.data.table.path.name, "Split": compared.split}
    if config.weight is not None:
        settings["Rows count in fits for"] = config.weight
    alphas = {model.named_steps["rank"].get_params().get("alpha") for model in compared.models.values()}
    return settings | {
        **_feature_settings(compared.data),
        "Strengths of the push, p": ", ".join(f"{power:g}" for power in config.powers),
        "L2 strength of the rankers, alpha": ", ".join(f"{alpha:g}" for alpha in sorted(alphas - {None})),
        "Versions": versions(),
    }


def _feature_settings(data: LabelledFeatures) -> dict[str, str]:
    X = data.rows.X
    if data.table.is_sparse:
        scaled = "columns scaled by their largest absolute value, within each fit"
        return {"Features": f"{X.shape[1]:,}, sparse", "Preprocessing": scaled}
    names = list(X.columns)
    left_out = [name for name in data.table.frame if name not in {data.label, *names}]
    return {
        "Features": f"{data.describe_features()}: {', '.join(names[:MAX_NAMES])}"
        + f" and {len(names) - MAX_NAMES:,} more" * (len(names) > MAX_NAMES),
        **({"Columns left out": ", ".join(left_out)} if left_out else {}),
        "Missing values": f"{100 * float(X.isna().to_numpy().mean()):.3g} %",
        "Preprocessing": "missing values imputed, numbers scaled, text one-hot encoded (columns of more than "
        f"{MAX_CATEGORIES} texts: by the mean label of each), within each fit",
    }
