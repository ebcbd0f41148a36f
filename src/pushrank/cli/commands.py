"""The commands: their arguments, their help, and what is refused before an import that takes long."""

from pathlib import Path
from typing import Annotated

import typer

from pushrank.cli import options, write
from pushrank.cli.errors import InputError, refusing, say, warn
from pushrank.cli.options import check_columns, model_file, rows_file
from pushrank.cli.source.format import TextFormat


def fit(source: options.FeatureSource, text_format: TextFormat, config: options.FitConfig) -> None:
    """Learn to rank from a file and save the model.

    Text columns are one-hot encoded, or from 101 texts on replaced by the mean label of each text. Missing
    numbers take the mean, and numbers are scaled. The model keeps all of this, so scoring needs nothing else.
    Columns of numbers with other marks are refused, and the message names the option to add. Columns of dates
    are left out unless --date names them. Warnings name columns that look like identifiers or that give the
    label away: leave them out with --exclude.

    The default model is one of the table of compare, with the same settings; compare says which model is best
    on your rows. --model ensemble makes one list of the models that compare has by default: it fits each of
    them five times, and those that have a weight more often for the alert threshold.

    --budget 120 saves the alert threshold: the score that 120 of as many rows as the data has will reach. It
    comes from fits that had not seen the rows that they scored. --budget 30/day --time COLUMN saves how many
    hits a day to expect, and where the values of the columns lay: pushrank watch says whether both still
    hold, and pushrank score --alert spends the budget. --probability calibrates scores of rows held out by a
    logistic curve.

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

    Among the parameters is what cross-validation chose, such as p and alpha of pnorm-push-cv. The weights are
    those of a linear model, the largest first. They belong to scaled numbers, so that they can be compared,
    and a text column has a weight for each text. Boosted models have importances instead, and an ensemble the
    weights of its members.

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

    Every cell is written as it was read, whether the model uses it or not. A text file keeps the separator,
    encoding and decimal mark that it was read with; only if text becomes .parquet or .xlsx are the model's
    numbers written as numbers. Rows with equal scores keep their order. If the data has columns named score
    or rank, the new ones are called pushrank_score and pushrank_rank. Rows of a libsvm file are named by
    their number, from 1.

    --reasons 3 writes the three columns that raise a row's score most above the rows just below the cut,
    which is --top or the alert threshold, such as "amount 4,120: +1.3". For forests, gradient boosting and
    ensembles they are sampled, with their standard error, for at most 1,000 rows. The column leaves_if says
    which value of one column alone would take the row below the cut, such as "amount at most 309".

    --promise 0.95 --labelled held_out.csv writes promised_hits: how many hits the list down to each row holds
    at least, with this probability for all rows together. Rows with equal scores count as if negatives came
    first. The labelled rows must be new to the model and drawn as the others are; a warning says if their
    scores differ beyond chance.

    --top 30 --audit 3 writes the first 27 rows and three drawn from all others, with the columns acted and
    chance: their labels tell what the list misses. The same file, or the same --id and --time, gives the same
    rows again.

    --top 384 --at-most 4:scaffold writes the best 384 rows of which no scaffold has more than four, and
    --at-least 50:region=north those with at least 50 from the north. Several limits hold together. If their
    columns cross, such as scaffold and supplier, the list is the one with the highest sum of scores.

    --alert state.db --id COLUMN --time COLUMN decides on each row as it came, and writes the threshold of its
    moment: the budget is never exceeded, and nearly all of it is spent. --budget 30/day begins state.db with
    past rows, which the model must not have learnt from; --audit 3/day adds an audit there. With --at-most
    1:customer, given there and at each call, no customer has more than one alert by score a day. Decisions
    are on disk before they are written, so that the same rows get the same answers.

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
    the training data, and do all that the model does to them. A row whose score is ALERT_THRESHOLD or more is
    an alert of the budget that the model was fitted with. Models that are sums of trees, and ensembles,
    cannot be written so.

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

    The measures are those of pushrank measure, whose help says what the intervals assume: hits in the first
    N rows of --budget N, by default a quarter as many as there are positives, average precision, areas, and
    what each tenth of the list holds. For an ensemble, another table says how many hits each member finds
    that no other does. With --acted and --chance the model must not have learnt from these rows.

    Example: pushrank evaluate model.skops test.csv --budget 100
    """
    config.check(model, data)
    check_columns(data, text_format, config, model=model, label=label, **config.limit_columns)
    from pushrank.cli.known import check_new
    from pushrank.cli.loading import load_model
    from pushrank.cli.measure import show_measures
    from pushrank.cli.promises import SEEN
    from pushrank.cli.source.labels import UNKNOWN

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
    """Say whether a model finds the hits expected of it, and whether the rows are still those of the fit.

    The last line is one of four sentences: "as expected: of 840 rows looked at, 610 labelled: 176 hits, 181
    expected" (exit code 0), "nothing is known of hits" (3: too few rows looked at have a final label), "fewer
    hits than expected since 3 November: retrain", or "the rows have changed: column wind" (both 1). Errors
    have exit code 2. A nightly job can act on the code.

    Give all rows since the fit, every day a few more. You may look as often as you like: in all that time a
    false alarm has a chance of about --level. If all rows of a period have a label, its hits are compared
    with those of periods with as many rows and positives at the fit, so that a calm week is no alarm. If only
    rows that somebody looked at have one, they should be hits as often as held-out rows with their scores
    were. --acted names the column of such rows, such as alert or acted, which score writes. Periods wait, in
    order, for the labels of all rows looked at, 30 days at most; --labels-after says how long labels take.

    For each column, and for the scores, the shares of its quarters or values in whole weeks (days for a
    budget an hour) are compared with those of the fit. A model with a budget of one list, such as 30, treats
    each file as one list.

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
    """Try a new model against the one in use, inside one budget.

    Rows that both models list are acted on. The others are paired by their place in the lists, and a coin
    decides which one of each pair is acted on. Each row is written with the model that brought it. The same
    rows get the same answers, and rows that come later in the same period fill the rest of the budget.

    --labels credits the hits. One sentence then says what the coins tell about these very days, and another
    what the days tell about days to come: at one look, after the days of --until, or else at any time, once
    the evidence is 20. Two columns of --score, without --state, compare the lists on past rows; -o then
    writes the rows whose labels would decide.

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
    first N rows of --budget N, by default a quarter as many as there are positives. Rows with equal scores
    count with their expected value. Each further column is compared with the first by its hits, with
    intervals that hold together at 95 %. The last table says what is found in each tenth of a list.

    The intervals come from the bootstrap (BCa) and assume independent rows. If rows come in clusters, such as
    the visits of one patient, name these with --group, or the intervals are too narrow. If all or none of the
    first rows are hits, the interval is that of Clopper and Pearson. The number of positives at the top has
    no interval, because resampling says nothing about an extreme; nor has a measure that no resample changes.
    A million rows take from some seconds to a minute; --no-intervals leaves the intervals out.

    --promise 0.95 says how many hits the first rows of a list to come hold at least. The bound is kept with
    this probability, if no model has learnt from the rows and those to come are drawn in the same way. It
    holds for all depths at once, or for --budget alone, which promises more. --require 'precision@100>=0.6'
    ends with exit code 1 unless that much is promised, all requirements together.

    --budget 150/day --time COLUMN counts hits in the first 150 rows of every day, hour, week, month or batch.
    Its intervals allow for neighbouring days that resemble each other. --promise is then of a coming day.

    --at-most 10:carrier and --at-least 5:region=north measure the best list of each day that keeps these
    limits, and say how many hits a day they cost; for one list, such as --budget 150, without an interval.

    --fraction .005,.01,.02 --bedroc 20,80.5 --pairs shows enrichment factors at these shares, BEDROC at these
    rates, and the differences of all pairs of models; intervals of a measure's differences hold together. A
    table (-o t.csv, t.tex) has these alone. --figure draws them, with bands for the best two.

    --acted COLUMN --chance COLUMN, in a file of all rows, says how many hits an audit by score --audit leaves
    below the list at most, and bounds the hits of other scores that were fixed beforehand. --budget 30/day
    --time COLUMN gives figures by day, and --looks 12 makes the bounds hold for twelve looks together.

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

    Logistic regression, the P-Norm Push and, on tables, boosted stumps, two kinds of gradient boosting, and
    extra trees see the same splits, and one list of them all, the ensemble; --model chooses among these and
    all others that fit knows. A figure is the mean over the test parts with
    its standard error. With --budget N, models are judged by how many of the first N rows are hits; without
    it by the precision among the first rows, a quarter as many as there are positives. Counts are of all rows
    tested on. Rows with equal scores count with their expected value.

    Parts are drawn at random, unless the rows follow their only column of dates: then every part comes after
    the rows learnt from, as with --time COLUMN. If rows of one customer, machine or batch resemble each
    other, add --group COLUMN; if you have test rows, add --test FILE.

    The model to take ranks hits highest over the whole list, by its average precision; a list of several
    models is taken unless .01 more average precision can be ruled out. In place of that --choose takes the
    best that is no such list (single), or the simplest that may be the best; the verdict says what they
    cost. The last line is the command that fits it as it was compared. If a column alone tells the classes
    apart, no model is chosen, and it is the command that compares again without this column, unless --keep
    names it. --save-best fits the model at once, and with a budget adds five lines: the model, its hits,
    what is promised, the alert threshold, and commands for tomorrow.

    With --budget 30/day --time COLUMN, models are judged by hits a day (hour, week, month, batch), in parts
    of whole days, with intervals that allow for neighbouring days that resemble each other. --save-best then
    also writes the file of the alert threshold.

    In --json, "chosen" is the model to take, "choices" the one of each --choose, "expected" what is expected
    of it on as many rows to come, "may_be_best" names the models that may be the best, the simplest first,
    "saved" holds the five lines and their figures, and "differences" says by how much the chosen model
    exceeds every other one, with intervals that hold together at 95 %.

    Example: pushrank compare data.csv --label fraud --budget 100
    """
    config.check()
    output.check(config, source.data)
    check_columns(source.data, text_format, source, config)
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

    It says which model to take, how many hits it finds and how sure that is, what a larger or smaller budget
    would find, and which columns drive the ranking. It shows the curves, the top rows and the rows that the
    models disagree on. All figures are of rows that a model had not seen.

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
    signal; the rest are hadrons, many of which look the same. How many of the 400 are gamma rays?
    """
    from pushrank.cli.demo import compare_showers

    compare_showers()
