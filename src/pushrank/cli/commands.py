"""The commands: their arguments, their help, and what is refused before an import that takes long."""

from pathlib import Path
from typing import Annotated

import typer

from pushrank.cli import options, write
from pushrank.cli.errors import InputError, refusing, say, warn
from pushrank.cli.options import check_columns, model_file, rows_file
from pushrank.cli.text_format import TextFormat


def fit(source: options.FeatureSource, text_format: TextFormat, config: options.FitConfig) -> None:
    """Learn to rank from a file and save the model.

    Text columns are one-hot encoded, or from 101 texts on by the mean label of each, missing numbers take the
    mean, and numbers are scaled. All of this is saved with the model, so scoring needs nothing else.
    Columns of numbers with other marks are rejected: the message says what to type. Columns of dates are left
    out unless --date makes numbers of them. You are warned about columns that look like identifiers or give
    the label away: leave them out with --exclude.

    The default is a model that compare has in its table, with the same settings; compare says which is best
    on your rows. With --budget N, the score is saved that N of as many rows as the data has will reach: the
    alert threshold, by fits that leave out two shares of the rows. With --probability scores of rows held out
    are also calibrated by a logistic curve. --model ensemble makes one list of up to twelve models that
    compare has in its table, at the price of five fits of each; its threshold takes more of those that have
    a weight.

    With --budget 30/day --time COLUMN the model carries the hits a day that it promises, by scores of rows
    later than those learnt from, and where its columns lay, in place of the threshold: pushrank watch says
    whether both still hold, and pushrank score --alert spends the budget.

    Example: pushrank fit data.csv --label fraud --positive yes --budget 100 -o model.skops
    """
    write.check_output(config.output, write.MODELS_WRITTEN, [source.data], force=config.force)
    check_columns(source.data, text_format, source, config)
    from pushrank.cli.fit import fit_model

    fit_model(source, text_format, config)


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
    data: Annotated[Path, rows_file(help="Rows to rank, with the columns of the training data.")],
    text_format: TextFormat,
    config: options.ScoreConfig,
) -> None:
    """Write the rows best first, after their rank and score.

    Every cell is written as it was read, whether the model uses it or not. Only when text becomes
    .parquet or .xlsx are the model's numbers written as numbers. A text file keeps the separator, encoding
    and decimal mark that it was read with. Rows with equal scores keep their order. Columns named score or
    rank in the data are kept; the new ones are then called pushrank_score and pushrank_rank. Rows of a
    libsvm file are named by their number, from 1.

    --reasons 3 writes the three columns that raise a row's score most beyond the rows just below the cut,
    that of --top or of the alert threshold, such as "amount 4,120: +1.3". Of forests, gradient boosting and
    ensembles they are sampled, with their standard error, for at most 1,000 rows. leaves_if says which value
    of one of these columns alone would take the row below the cut, such as "amount at most 309".

    --promise 0.95 --labelled held_out.csv writes promised_hits beside each row: so many hits the list down to
    it holds at least, with this probability for all rows together; the list of --top N is promised most. Rows
    that tie count as if negatives came first. Labelled rows must be new to the model and drawn as the others
    are; if their scores differ beyond chance, a warning says so.

    --top 30 --audit 3 writes the first 27 rows and three that are drawn from all others, with the columns
    acted and chance: their labels tell what the list misses. The same file again gives the same rows, or the
    same --id and --time do.

    --top 384 --at-most 4:scaffold writes the best 384 rows of which no scaffold has more than four, and
    --at-least 50:region=north those with at least 50 from the north; several limits hold together. On columns
    that cross, such as scaffold and supplier, it is the list of the highest sum of scores.

    --alert state.db --id COLUMN --time COLUMN writes also whether to act on each row, and the threshold of
    its moment: never more than the budget, and nearly all of it. What was decided is on disk before it is
    written, so that the same rows get the same answers; --budget 30/day begins that file with past rows,
    which the model must not have learnt from, and --audit 3/day gives it an audit, too. With --at-most
    1:customer, said there and at each call, no customer has more than one alert by score a day.

    Example: pushrank score model.skops new.parquet -o ranked.csv --top 100
    """
    config.check()
    inputs = [model, data, config.labelled, config.alert]
    write.check_output(config.output, write.TABLES_WRITTEN, inputs, force=config.force)
    named = {"columns": config.columns, "id": config.id, "time": config.time, **config.limit_columns}
    check_columns(data, text_format, model=model, **named)
    from pushrank.cli.score import write_ranked

    write_ranked(model, data, text_format, config)


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
    write.check_output(output, write.PROGRAMS_WRITTEN, [model], force=force)
    from pushrank.cli.pipelines import SavedModel
    from pushrank.interop.numpy import export_numpy

    saved = SavedModel.load(model)
    alert_threshold = None if saved.alert is None else saved.alert.threshold
    with refusing(f"{model}: "), write.writing(output):
        export_numpy(saved.pipeline, output, alert_threshold=alert_threshold)
    left = "" if saved.calibrator is None else ", without its probabilities"
    say(f"{saved.name} with {saved.n_features:,} columns{left}, to be imported from {output}.")


def evaluate(
    model: options.Model,
    data: Annotated[Path, rows_file(help="Labelled rows that it has not seen.")],
    text_format: TextFormat,
    config: options.MeasureConfig,
    label: Annotated[
        str | None, typer.Option(help="The label's column, where it differs from the training data's.")
    ] = None,
    positive: options.Positive = None,
) -> None:
    """Print how good the top of a saved model's list is, with 95 % intervals.

    What is measured and printed is that of pushrank measure, whose help tells what the intervals assume:
    hits in the first N rows of --budget N, by default a quarter as many as there are positives, average
    precision, areas, and what each tenth of the list holds. Of an ensemble a table says which member finds
    how many hits that no other does. --acted and --chance are for a model that has not learnt from the rows.

    Example: pushrank evaluate model.skops test.csv --budget 100
    """
    config.check(model, data)
    check_columns(data, text_format, config, model=model, label=label, **config.limit_columns)
    from pushrank.cli.known import check_new
    from pushrank.cli.labels import UNKNOWN
    from pushrank.cli.loading import load_model
    from pushrank.cli.measure import show_measures
    from pushrank.cli.promises import SEEN

    saved = load_model(model)
    rows, features, seen = saved.read_labelled(data, text_format, label, positive, UNKNOWN)
    # Measures of rows that were learnt from are printed with a warning; a promise by them would be false.
    if seen and (config.promise or config.require or config.chance):
        raise InputError(SEEN.format(saved.name, data))
    if config.chance is not None:
        check_new(saved.name, model, rows, config)
    members = saved.member_scores(features)
    show_measures(rows, {saved.name: saved.scores(features)}, config, saved.alert, members)
    if seen:
        warn(f"{saved.name} was fitted to these very rows: measures of rows that it has seen flatter it.")


def watch(
    model: Annotated[Path, model_file(help="A model fitted with a budget.")],
    data: Annotated[Path, rows_file(help="All rows since the fit, with its columns.")],
    text_format: TextFormat,
    config: options.WatchConfig,
) -> None:
    """Say whether a model in use keeps its promise, and whether the rows are still those of the fit.

    The last line is one of four sentences: "as promised: of 840 rows looked at, 610 labelled: 176 hits, 181
    promised" (exit code 0), "nothing is known of hits" (3, where no label of rows looked at is known), "fewer
    hits than promised since 3 November: retrain", or "the rows have changed: column wind" (both 1). A nightly
    job can act on the code; errors have exit code 2.

    Give all rows since the fit, every day a few more: the tests may be looked at as often as you like, and
    give a false alarm with a chance of about --level in all that time. Where all rows of a period have a
    label, its hits are compared with those that periods of so many rows and positives held when the model was
    fitted, so that a calm week is no alarm. Where only rows that somebody looked at have one, these should be
    hits as often as held-out rows of their scores were; --acted names the column of such rows, which score
    --audit writes. Labels that are late are told from those that never come by --acted or --labels-after.
    Of each column, and of the scores, the shares of its quarters or values in whole weeks (days of a budget
    an hour) are compared with those of the fit. A model of one list, --budget 30, watches each file as one.

    Example: pushrank watch model.skops since_the_fit.parquet --time came --label fraud -o watch.html
    """
    check_columns(data, text_format, config, model=model)
    write.check_output(config.output, write.REPORTS_WRITTEN, [model, data], force=config.force)
    if config.opened and config.output is None:
        raise InputError("--open is for a page; say where to save it: -o PATH.")
    from pushrank.cli.watch import watch_model

    watch_model(model, data, text_format, config)


def duel(
    text_format: TextFormat,
    config: options.DuelConfig,
    champion: Annotated[Path | None, rows_file(help="The model in use.")] = None,
    challenger: Annotated[Path | None, rows_file(help="The model to try.")] = None,
    data: Annotated[Path | None, rows_file(help="New rows, with the columns of both.")] = None,
) -> None:
    """Try a new model beside the one in use, inside one budget.

    Rows that both models list are acted on, and of the others, paired by place, one of each pair by a coin.
    Each row is written with who brought it. The same rows get the same answers, and as more come in the same
    period, the rest of the budget is filled.

    With --labels the hits are credited, and two sentences say what the coins tell of these very days, and
    what the days tell of days to come: at the one look of --until 60, named when the duel begins, or else at
    any time, once the evidence is 20. With two columns of --score, and no state, past rows say how far the
    lists differ, and -o writes the rows whose labels decide.

    Example: pushrank duel old.skops new.skops today.csv --budget 30/day --time came --id id --state duel.db
    -o act.csv
    """
    paths = [path for path in (champion, challenger, data) if path is not None]
    config.check(len(paths))
    write.check_output(config.output, write.TABLES_WRITTEN, [*paths, config.labels], force=config.force)
    from pushrank.cli import duel as form

    if data is not None:
        form.assign_rows(paths[:2], data, text_format, config)
    elif config.score:
        form.compare_columns(text_format, config)
    else:
        form.credit_labels(text_format, config)


def measure(
    source: options.LabelledSource,
    text_format: TextFormat,
    score: Annotated[
        list[str],
        typer.Option(
            help="A column of scores, the higher the better; may be repeated, then each is compared with the "
            "first."
        ),
    ],
    config: options.MeasureConfig,
) -> None:
    """Print how good the top of lists is, by the scores of any models, with 95 % intervals.

    Rows hold their label and a column of scores for each model. The first four measures count hits in the
    first N rows of --budget N, by default a quarter as many as there are positives. Ties count as their
    expected value. Of several columns each is compared with the first by its hits, on the same resamples,
    with intervals that hold together at 95 %. The last table says what is found in each tenth of a list.

    The intervals come from the bootstrap (BCa) and assume independent rows: if rows come in clusters, such as
    the visits of one patient, they are too narrow, unless --group names them. Where all or none of the first
    rows are hits, the interval is that of Clopper and Pearson. The number of positives at the top has no
    interval, because resampling says nothing about an extreme; nor has a measure that no resample changes.
    A line below the table names those that have none.
    With a million rows the intervals take from some seconds to a minute; --no-intervals leaves them out.

    --promise 0.95 says how many hits the first rows of a list to come hold at least: a bound that is kept
    with this probability, if no model has learnt from the rows and those to come are drawn alike. It promises
    all depths at once, or that of --budget alone, which is more. --require 'precision@100>=0.6' ends with
    exit code 1 unless that much is promised, at the level of --promise or 95 %, all requirements together.

    --budget 150/day --time COLUMN counts hits in the first 150 rows of every day, or hour, week, month or
    batch. Its intervals allow for neighbouring days that are alike. --promise is then of a coming day.

    --at-most 10:carrier and --at-least 5:region=north measure the best list of each day that keeps these
    limits, and say how many hits a day they cost, with an interval; of one list, --budget 150, without.
    --once customer counts several hits of one customer as one, a day or in the list, and draws customers.

    --fraction .005,.01,.02 --bedroc 20,80.5 --pairs shows enrichment factors and BEDROC at these shares and
    rates, and the differences of all pairs; intervals of a measure's differences hold together. A table (-o
    t.csv, t.tex) has these alone, of models and pairs. --figure draws them, with bands for the best two.

    --acted COLUMN --chance COLUMN of a file of all rows says how many hits are below a list that made its own
    labels, by an audit, as score --audit draws it, and bounds the hits of other scores, fixed beforehand.
    --budget 30/day --time COLUMN gives figures by day, and --looks 12 bounds for twelve looks together.

    --json prints all measures, differences and tenths, to twelve digits.

    Example: pushrank measure scores.csv --label fraud --score lightgbm --score push --budget 100
    """
    config.check(source.data)
    check_columns(source.data, text_format, source, config, score=score, **config.limit_columns)
    from pushrank.cli.measure import measure_file

    measure_file(source, text_format, score, config)


def compare(
    source: options.FeatureSource,
    text_format: TextFormat,
    config: options.ComparisonConfig,
    output: options.CompareOutput,
) -> None:
    """Compare models under the same cross-validation and say which is best at the top.

    Logistic regression, the P-Norm Push at several p, the IR Push and, on tables, boosted stumps, gradient
    boosting, a random forest and LightGBM, where it is installed, see the same splits; --model chooses among
    these and all others that fit knows. A figure is the mean over the test parts with its standard error.
    With --budget N, models are judged by how many of the N rows acted on are hits; else by the precision
    among the first rows, a quarter as many as there are positives. Counts are of all rows tested on. Ties
    count as their expected value.

    Parts are drawn at random, unless rows follow their only column of dates: then every part comes after the
    rows learnt from, as with --time COLUMN. Where rows of one customer, machine or batch resemble each other,
    say --group COLUMN; where you have test rows, --test FILE.

    The best of several figures is too good, because it was chosen on the rows that it is measured on. With
    --nested, the last row of the table is what the whole choice achieves on rows that had no part in it.
    With V folds this takes about V times as long.

    The model to take is the simplest of those that may be the best, or with --choose best the one with the
    highest mean. The last line is the command that fits it as it was compared, or that compares again without
    columns that alone tell the classes apart, but for those of --keep. --save-best fits at once, and with a
    budget ends with the model, its hits, what is promised, the alert threshold, and commands for tomorrow.

    With --budget 30/day --time COLUMN, models are judged by hits a day (hour, week, month, batch), in parts
    of whole days, with intervals that allow for neighbouring days that are alike. The file of the alert
    threshold is then written beside the model.

    With --at-most 10:carrier, --at-least or --once, as measure has them, hits are those of the list within
    limits, or of different values: the model that is chosen is the one for that list.

    With --json, "chosen" is the model to take, "may_be_best" names the models that may be the best, the
    simplest first, at 95 %, "saved" holds the five lines and their figures, and "differences" holds by how
    much the best model exceeds every other one by the criterion, with intervals that hold together at 95 %.

    Example: pushrank compare data.csv --label fraud --budget 100
    """
    config.check()
    output.check(config, source.data)
    check_columns(source.data, text_format, source, config, **config.limit_columns)
    from pushrank.cli.compare import compare_models

    compare_models(source, text_format, config, output)


def report(
    source: options.FeatureSource,
    text_format: TextFormat,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to save the report (.html).")],
    config: options.ComparisonConfig,
    opened: options.Open = False,
    force: options.Force = False,
) -> None:
    """Compare models and write one HTML file that opens anywhere, offline.

    It says how many hits the model to take finds, which model that is and how sure, what a larger or smaller
    budget would find, and which columns drive its ranking. It shows the curves, the top rows and the rows
    that the models disagree on. All figures are of rows that a model had not seen. With --nested it also says
    what the choice of the model achieves on rows that had no part in it.

    Example: pushrank report data.csv --label fraud --budget 100 -o report.html
    """
    config.check()
    written = options.CompareOutput(report=output, opened=opened, force=force)
    written.check(config, source.data)
    check_columns(source.data, text_format, source, config)
    from pushrank.cli.report import write_report

    write_report(source, text_format, config, written, output)


def demo() -> None:
    """Find gamma rays in a telescope's recordings: compare models with no data of your own.

    Of 4,000 showers of particles that the MAGIC telescope recorded, you can study 400. Gamma rays are the
    signal; the rest are hadrons, many of which look alike. How many of the 400 are gamma rays?
    """
    from pushrank.cli.demo import compare_showers

    compare_showers()
