"""The report of ``pushrank compare``: a comparison as one HTML file that opens anywhere."""

from collections.abc import Sequence
from pathlib import Path

from pushrank.cli.comparison import Compared
from pushrank.cli.features import LabelledFeatures
from pushrank.cli.forms import CompareOptions
from pushrank.cli.source.columns import MAX_CATEGORIES
from pushrank.cli.write import versions, write_page
from pushrank.report import ReportData

MAX_NAMES, MAX_LEFT_OUT = 100, 4
"""How many features, and columns left out on the first screen, are listed by name."""


def write_comparison_report(
    path: Path, compared: Compared, config: CompareOptions, released: Sequence[str] = ()
) -> None:
    """Write the report, whole or not at all."""
    data, comparison = compared.data, compared.comparison.of_held_out_rows()
    is_held_out, numbers = compared.comparison.folds >= 0, {name: data.rows.X[name] for name in data.numeric}
    # Features of numbers are shown as numbers, all else as it is in the file.
    rows = data.table.frame.drop(columns=data.label).assign(**numbers)
    page = ReportData(
        comparison,
        data.y[is_held_out],
        rows[is_held_out],
        title=data.table.path.name,
        meaning=data.label_meaning,
        settings=_settings(compared, config),
        seed=config.seed,
        models=compared.models,
        X=data.rows.X[is_held_out],
        released=released,
        times=None if data.rows.times is None else data.rows.times[is_held_out],
        left_out=_left_out(compared),
    )
    write_page(page, path)


def _left_out(compared: Compared) -> list[str]:
    """Return what the figures do not rest on: columns, and rows that are not among those held out."""
    names, n_learnt = _columns_left_out(compared.data), int((compared.comparison.folds < 0).sum())
    said = []
    if names:
        more = f" and {len(names) - MAX_LEFT_OUT:,} more" * (len(names) > MAX_LEFT_OUT)
        columns = f"{len(names):,} column{'s' * (len(names) > 1)}"
        said.append(f"{columns} ({', '.join(names[:MAX_LEFT_OUT])}{more})")
    if n_learnt:
        said.append(f"{n_learnt:,} rows that were only learnt from")
    if compared.kept is not None:
        said.append(f"{len(compared.kept.y):,} rows kept for the promise")
    if compared.budget != (budget := compared.comparison.budget):
        said.append(f"of the budget of {compared.budget:,} rows, {budget:,} fall to the rows held out")
    return said


def _columns_left_out(data: LabelledFeatures) -> list[str]:
    return [str(name) for name in data.table.frame if name not in {data.label, *data.rows.X.columns}]


def _settings(compared: Compared, config: CompareOptions) -> dict[str, str]:
    data, settings = compared.data, {"Split": compared.split}
    if config.weight is not None:
        settings["Rows count in fits for"] = config.weight
    names, left_out = list(data.rows.X.columns), _columns_left_out(data)
    more = f" and {len(names) - MAX_NAMES:,} more" * (len(names) > MAX_NAMES)
    alphas = {model.named_steps["rank"].get_params().get("alpha") for model in compared.models.values()}
    return settings | {
        "Features": f"{data.describe_features()}: {', '.join(names[:MAX_NAMES])}{more}",
        **({"Columns left out": ", ".join(left_out)} if left_out[MAX_LEFT_OUT:] else {}),
        "Missing values": f"{100 * float(data.rows.X.isna().to_numpy().mean()):.3g} %",
        "Preprocessing": "missing values imputed, numbers scaled, text one-hot encoded (columns of more than "
        f"{MAX_CATEGORIES} texts: by the mean label of each), within each fit",
        "L2 strength of the rankers, alpha": ", ".join(f"{alpha:g}" for alpha in sorted(alphas - {None})),
        "Versions": versions(),
    }
