"""The commands: their arguments, their help, and what is refused before an import that takes long."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pushrank.cli import options
from pushrank.cli.errors import InputError, refusing, say, warn
from pushrank.cli.options import MeasureConfig, OneByOne, ScoreConfig, WatchConfig, check_columns
from pushrank.cli.text_format import TextFormat
from pushrank.cli.write import PROGRAMS_WRITTEN, REPORTS_WRITTEN, TABLES_WRITTEN, check_output, writing


def show(
    model: options.AnyModel,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with all weights.")] = False,
) -> None:
    """Print what a saved model holds: its parameters, what it was fitted on, and its largest weights.

    What cross-validation chose, such as p and alpha of pnorm-push-cv, is among it. Weights are those of a
    linear model, the largest first, of the columns as it sees them: numbers are scaled, so that weights can
    be compared, and a text column is a column for each value. Boosted models have importances in their place,
    an ensemble the weights of its members.

    Example: pushrank show model.skops
    """
    from pushrank.cli.show import print_model

    print_model(model, as_json=as_json)


def score(
    model: options.Model,
    data: Annotated[
        Path,
        typer.Argument(
            help="Rows to rank, with the columns of the training data.", callback=options.check_data
        ),
    ],
    text_format: TextFormat,
    one_by_one: OneByOne,
    config: ScoreConfig,
) -> None:
    """Write the rows best first, after their rank and score.

    Every cell is written as it was read, whether the model uses it or not. Only when text becomes
    .parquet or .xlsx are the model's numbers written as numbers. A text file keeps the separator, encoding
    and decimal mark that it was read with. Rows with equal scores keep their order. Columns named score or
    rank in the data are kept; the new ones are then called pushrank_score and pushrank_rank. Rows of a
    libsvm file are named by their number, from 1.

    --reasons 3 writes the three columns that raise a row's score most beyond their mean over all rows of the
    file, such as "amount 4,120: +1.3", of linear models, boosted stumps and LightGBM; of an ensemble members.

    --promise 0.95 --labelled held_out.csv writes promised_hits beside each row: so many hits the list down to
    it holds at least, with this probability for all rows together; the list of --top N is promised most. Rows
    that tie count as if negatives came first. Labelled rows must be new to the model and drawn as the others
    are; if their scores differ beyond chance, a warning says so.

    --alert state.json --id COLUMN --time COLUMN writes also whether to act on each row, and the threshold of
    its moment: never more than the budget, and nearly all of it. What was decided is on disk before it is
    written; --budget 30/day begins that file with past rows, which the model must not have learnt from.

    Example: pushrank score model.skops new.parquet -o ranked.csv --top 100
    """
    one_by_one.check(force=config.force)
    config.check()
    inputs = [model, data, config.labelled, one_by_one.alert]
    check_output(config.output, TABLES_WRITTEN, inputs, force=config.force)
    check_columns(data, text_format, one_by_one, model=model, columns=config.columns)
    from pushrank.cli.score import write_ranked

    write_ranked(model, data, text_format, one_by_one, config)


def export(
    model: options.AnyModel,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to: .py.")],
    force: options.Force = False,
) -> None:
    """Write a saved model as a Python file that needs numpy alone, for machines without pushrank.

    Its decision_function and predict take a data frame, a dict of columns, or an array with the columns of
    the training data, and do all that the model does to them. Scores of ALERT_THRESHOLD or more are the
    alerts of the budget that the model was fitted with. Models that are sums of trees cannot be written so.

    Example: pushrank export model.skops -o scoring.py
    """
    check_output(output, PROGRAMS_WRITTEN, [model], force=force)
    from pushrank.cli.model import SavedModel
    from pushrank.interop.numpy import export_numpy

    saved = SavedModel.load(model)
    alert_threshold = None if saved.alert is None else saved.alert.threshold
    with refusing(f"{model}: "), writing(output):
        export_numpy(saved.pipeline, output, alert_threshold=alert_threshold)
    left = "" if saved.calibrator is None else ", without its probabilities"
    say(f"{saved.name} with {saved.n_features:,} columns{left}, to be imported from {output}.")


def evaluate(
    model: options.Model,
    data: Annotated[
        Path, typer.Argument(help="Labelled rows that it has not seen.", callback=options.check_data)
    ],
    text_format: TextFormat,
    config: MeasureConfig,
    label: Annotated[
        str | None, typer.Option(help="The label's column, where it differs from the training data's.")
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="The positive label, where it differs from the training data's.")
    ] = None,
    drop_unlabelled: options.DropUnlabelled = False,
) -> None:
    """Print how good the top of a saved model's list is, with 95 % intervals.

    What is measured and printed is that of pushrank measure, whose help tells what the intervals assume:
    hits in the first N rows of --budget N, by default a quarter as many as there are positives, average
    precision, areas, and what each tenth of the list holds. Of an ensemble a table says which member finds
    how many hits that no other does.

    Example: pushrank evaluate model.skops test.csv --budget 100
    """
    config.check(model, data)
    check_columns(data, text_format, config, model=model, label=label)
    from pushrank.cli.loading import load_model
    from pushrank.cli.measure import show_measures
    from pushrank.cli.promises import SEEN

    saved = load_model(model)
    how = {"drop_unlabelled": drop_unlabelled}
    rows, features, seen = saved.read_labelled(data, text_format, label, positive, **how)
    if seen and (config.promise or config.require):
        raise InputError(SEEN.format(saved.name, data))
    members = saved.member_scores(features)
    show_measures(rows, {saved.name: saved.scores(features)}, config, saved.alert, members)
    if seen:
        warn(f"{saved.name} was fitted to these very rows: measures of rows that it has seen flatter it.")


def watch(
    model: Annotated[
        Path,
        typer.Argument(
            help="A model fitted with --budget 30/day --time COLUMN.", callback=options.check_model
        ),
    ],
    data: Annotated[
        Path, typer.Argument(help="All rows since the fit, with its columns.", callback=options.check_data)
    ],
    text_format: TextFormat,
    config: WatchConfig,
) -> None:
    """Say whether a model in use keeps its promise, and whether the rows are still those of the fit.

    The last line is one of three sentences: "as promised", "fewer hits than promised since 3 November:
    retrain", or "the rows have changed: column wind_gust". The exit code is 0 for the first and 1 for the
    others, so that a nightly job can act on it; errors have exit code 2.

    Give all rows since the fit, every day a few more: the tests may be looked at as often as you like, and
    give a false alarm with a chance of --level at most in all that time. Hits are compared with those that
    periods of so many rows and positives held when the model was fitted, so that a calm week is no alarm.
    Periods with a row whose label is not known yet are counted, and not tested. Of each column, and of the
    scores, the shares of its quarters or values in whole weeks (days of a budget an hour) are compared with
    those of the fit.

    Example: pushrank watch model.skops since_the_fit.parquet --time came --label fraud -o watch.html
    """
    check_columns(data, text_format, config, model=model)
    if config.output is not None:
        check_output(config.output, REPORTS_WRITTEN, [model, data], force=config.force)
    elif config.opened:
        raise InputError("--open is for a page; say where to save it: -o PATH.")
    from pushrank.cli.watch import watch_model

    watch_model(model, data, text_format, config)


def demo() -> None:
    """Find gamma rays in a telescope's recordings: compare models with no data of your own.

    Of 4,000 showers of particles that the MAGIC telescope recorded, you can study 400. Gamma rays are the
    signal; the rest are hadrons, many of which look alike. How many of the 400 are gamma rays?
    """
    from pushrank.cli.demo import compare_showers

    compare_showers()
