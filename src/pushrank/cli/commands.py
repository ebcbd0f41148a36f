"""The commands: what they are for, and what is refused before an import that takes long."""

from pathlib import Path
from typing import Annotated

from pushrank.cli import forms
from pushrank.cli.options import (
    FeatureSource,
    Json,
    Model,
    NewRows,
    RowSource,
    check_columns,
    model_file,
    rows_file,
    rows_for,
)


def demo() -> None:
    """Find gamma rays in a telescope's recordings, with no data of your own.

    Example: pushrank demo
    """
    from pushrank.cli.demo import compare_showers

    compare_showers()


def compare(source: FeatureSource, config: forms.CompareOptions) -> None:
    """Say which model finds most in the rows that you can act on, and how sure that is.

    Example: pushrank compare data.csv --label fraud --budget 100 --save model.skops
    """
    config.check(source)
    from pushrank.cli.compare import compare_models

    compare_models(source, config)


def fit(source: FeatureSource, config: forms.FitOptions) -> None:
    """Fit one model to a file and save it, with its alert threshold where there is a budget.

    Example: pushrank fit data.csv --label fraud --budget 100 -o model.skops
    """
    config.check(source)
    from pushrank.cli.fit import fit_model

    fit_model(source, config)


def score(model: Model, data: NewRows, config: forms.ScoreOptions) -> None:
    """Write the rows best first, after their rank and score; every cell as it was read.

    Example: pushrank score model.skops new.parquet --top 100 -o list.csv
    """
    config.check(model, data)
    rows = rows_for(model, data, config.read)
    # The column of --label is one of other files.
    named = {"id": config.id, "time": config.time, "columns": config.columns}
    check_columns(rows, **named, **config.limit_columns(rows.header))
    from pushrank.cli.score import write_ranked

    write_ranked(model, rows, config)


def measure(source: RowSource, config: forms.MeasureOptions) -> None:
    """Say how good the top of lists is, by saved models or columns of scores of any model.

    Example: pushrank measure scores.csv --label fraud --score lightgbm --score push --budget 100
    """
    # Options of a model say how the file is written, before its columns are looked up.
    rows = rows_for(config.model[0], source.data, source.read) if config.model else source.rows
    config.check(source, rows)
    from pushrank.cli.measure import measure_file

    measure_file(source, rows, config)


def watch(model: Model, data: NewRows, config: forms.WatchOptions) -> None:
    """Say whether a model still finds the hits expected of it, by all rows since the fit.

    Example: pushrank watch model.skops since_the_fit.parquet
    """
    config.check(model, data)
    rows = rows_for(model, data, config.read)
    check_columns(rows, config)
    from pushrank.cli.watch import watch_model

    watch_model(model, rows, config)


def alert(model: Model, data: NewRows, config: forms.AlertOptions) -> None:
    """Decide on rows as they come, within a budget such as 30 a day.

    Example: pushrank alert model.skops today.csv --id id -o alerts.csv
    """
    config.check(model, data)
    rows = rows_for(model, data, config.read)
    check_columns(rows, config, columns=config.columns)
    from pushrank.cli.alert import begin, decide

    (begin if config.begin else decide)(model, rows, config)


def duel(
    config: forms.DuelOptions,
    champion: Annotated[Path | None, model_file(metavar="CHAMPION", help="The model in use.")] = None,
    challenger: Annotated[Path | None, model_file(metavar="CHALLENGER", help="The model to try.")] = None,
    data: Annotated[
        Path | None, rows_file(metavar="DATA", help="New rows, with the columns of both.")
    ] = None,
) -> None:
    """Try a new model against the one in use, inside one budget, and say which one finds more.

    Example: pushrank duel old.skops new.skops today.csv --state duel.db --id id --time came -o act.csv
    """
    paths = [path for path in (champion, challenger, data) if path is not None]
    config.check(paths)
    from pushrank.cli import duel as form

    if data is not None:
        form.assign_rows(paths[:2], data, config)
    elif config.score:
        form.compare_columns(config)
    else:
        form.credit_labels(config)


def show(
    model: Annotated[Path, model_file(metavar="MODEL", help="A model that fit or pushrank.save saved.")],
    as_json: Json = False,
) -> None:
    """Print what a saved model holds: what it was fitted on, its parameters and its largest weights.

    Example: pushrank show model.skops
    """
    from pushrank.cli.show import print_model

    print_model(model, as_json=as_json)
