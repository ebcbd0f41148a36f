"""``pushrank measure``: how good is the top of a list, whatever model the scores come from?"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pushrank import metrics
from pushrank._base.files import atomic_write
from pushrank._base.user_types import Floats
from pushrank.budgets import Budget
from pushrank.cli.errors import InputError, in_option_names, refusing, say, warn
from pushrank.cli.forms import MeasureOptions
from pushrank.cli.known import check_new, measure_audited, measure_known
from pushrank.cli.loading import load_model
from pushrank.cli.members import MemberHits, hits_of_members
from pushrank.cli.options import RowSource
from pushrank.cli.promises import SEEN, Promises, promises_of
from pushrank.cli.saved import Alert, RowScorer
from pushrank.cli.score import time_column
from pushrank.cli.screen import count_text, print_json, print_table, screen_width
from pushrank.cli.source.labels import UNKNOWN, LabelledRows, label_rows
from pushrank.cli.source.open import Source
from pushrank.cli.write import write_figure, write_table, writing
from pushrank.held_out import record_warnings
from pushrank.metrics import Measurement, PeriodMeasurement
from pushrank.metrics.measurement import VERY_FITS, number_text
from pushrank.metrics.periods import COMING
from pushrank.metrics.promises.days import hits_of_coming_days
from pushrank.moving import moving_gain

CONFIDENCE_LEVEL = 0.95
WIDTH_OF_MEANINGS = 120


def measure_file(source: RowSource, read: Source, config: MeasureOptions) -> None:
    """Print how good the top of lists is, by saved models or columns of scores, with 95 % intervals."""
    models = {path: load_model(path) for path in config.model or ()}
    first = next(iter(models.values()), None)
    if isinstance(config.budget, Budget) and first is not None:
        config = replace(config, time=time_column(first, config.time))
    rows, scores, features = _scored(source, read, config, models)
    one = len(scores) == 1
    lists = MeasuredLists(rows, scores, config, first.alert if first and one else None)
    if config.chance is not None:
        for path, saved in models.items():
            check_new(saved.name, path, rows, config)
        measure_audited(rows, scores, config)
    elif rows.known is not None or config.acted is not None:
        measure_known(rows, scores, config, lists.alert)
    elif isinstance(config.budget, Budget):
        show_periods(rows, scores, config, config.budget)
    elif config.budget is not None and config.is_limited:
        show_periods(rows, scores, config, Budget(config.budget, "batch"))
    else:
        show_measures(lists, first.member_scores(features) if first and one and config.every else {})
    if rows.known is None and config.chance is None:
        _warn_of_reversed(rows, {name: scores[name] for name in config.score or ()})
    if len(models) > 1 and not config.as_json:
        say(VERY_FITS.format("pushrank compare"))


def _scored(
    source: RowSource, read: Source, config: MeasureOptions, models: Mapping[Path, RowScorer]
) -> tuple[LabelledRows, dict[str, Floats], Any]:
    """Return labelled rows, the scores of each list by its name, and the features of the first model."""
    first, table = next(iter(models.values()), None), read.table()
    # A model that was saved in Python knows no label.
    label = source.label or (first.label if first else "") or None
    positive = source.positive or (first.positive if first else None)
    rows = label_rows(table, table.labels(label), positive, may_lack=UNKNOWN)
    scores, features = {}, None
    for name, saved in _named(models).items():
        X, seen = saved.of_labelled(rows)
        features = X if saved is first else features
        scores[name] = saved.scores(X)
        # Measures of rows that were learnt from are printed with a warning; a promise by them would be false.
        if seen and (config.promise or config.require or config.chance):
            raise InputError(SEEN.format(name, source.data))
        if seen:
            warn(f"{name} was fitted to these very rows: measures of rows that it has seen flatter it.")
    for name in config.score or ():
        if name in scores:
            raise InputError(f"--score {name!r} is what a model is called, too: rename the column.")
        scores[name] = table.numbers(name, "score")
    return rows, scores, features


def _named(models: Mapping[Path, RowScorer]) -> dict[str, RowScorer]:
    """Return models by their names; where these are not different, by the names of files, or by paths."""
    several = [of.name for of in models.values()], [path.name for path in models], [*map(str, models)]
    names = next(names for names in several if len({*names}) == len(models))
    return dict(zip(names, models.values(), strict=True))


def _warn_of_reversed(rows: LabelledRows, scores: Mapping[str, Floats]) -> None:
    """Warn of columns of scores that rank worse than a random order."""
    for name, values in scores.items():
        if (area := metrics.auc(rows.y, values)) < 0.5:
            warn(
                f"column {name!r} of {rows.table.path} ranks worse than a random order (auc {area:.4f}): a "
                "higher score must be better; if a lower one is, change its sign."
            )


@dataclass(frozen=True)
class MeasuredLists:
    """Lists of labelled rows that are measured, and the threshold of the only one, if it has one."""

    rows: LabelledRows
    scores: dict[str, Floats]
    config: MeasureOptions
    alert: Alert | None

    @property
    def weight(self) -> Floats | None:
        """How many rows each row stands for."""
        name = self.config.weight
        return None if name is None else self.rows.table.numbers(name, "weight", 0.0)

    @property
    def groups(self) -> NDArray[Any] | None:
        """The groups that resamples draw whole."""
        return None if self.config.group is None else self.rows.table.groups(self.config.group)


def show_measures(lists: MeasuredLists, members: Mapping[str, tuple[float, Floats]]) -> None:
    """Measure, write and print lists of rows; ``members`` has the weights and scores of models in a sum."""
    config, y, scores, budget = lists.config, lists.rows.y, lists.scores, lists.config.budget
    weight, groups = lists.weight, lists.groups
    n = budget if isinstance(budget, int) else None
    total = float(len(y) if weight is None else weight.sum())
    if n is not None and n > total:
        raise InputError(f"--budget {n} exceeds the {total:g} rows of the data.")
    promises = None
    if config.promise or config.require:
        promises = promises_of(
            y,
            scores,
            config.promise or CONFIDENCE_LEVEL,
            {n} if config.promise and n else set(),
            config.require or [],
            n_new=config.new_rows,
            # Without a budget the depth follows from the labels: that is to choose by looking.
            together=config.promise is not None and n is None,
            groups=groups,
            sample_weight=weight,
        )
    fractions, rates = screening_of(config.screening)
    value = None if config.value is None else lists.rows.table.numbers(config.value, "value")
    with refusing():
        measured = metrics.measure(
            y,
            scores,
            k=n,
            at={"enrichment_factor": fractions, "bedroc": rates},
            pairs="all" if config.screening else "first",
            every=config.every,
            value=value,
            groups=groups,
            confidence_level=CONFIDENCE_LEVEL if config.intervals else None,
            sample_weight=weight,
            random_state=config.seed,
        )
    _write(lists, measured, fractions)
    found = hits_of_members(y, round(measured.depth), members) if members and weight is None else []
    if config.as_json:
        facts: dict[str, Any] = {"file": lists.rows.table.path.name, **measured.summary()}
        if lists.alert is not None:
            facts["alert"] = lists.alert.facts(next(iter(scores.values())), y)
        if found:
            facts["members"] = [member._asdict() for member in found]
        print_json(facts | (promises.facts(round(measured.depth)) if promises else {}))
    else:
        _print(lists, measured, found, promises)
    if promises:
        promises.judge(quiet=config.as_json)


def screening_of(text: str | None) -> tuple[list[float], list[float]]:
    """Return the shares of the list and the rates of BEDROC of a text such as .005,.01:20,80.5."""
    shares, _, rates = (text or "").partition(":")
    try:
        found = [[float(part) for part in of.split(",") if part.strip()] for of in (shares, rates)]
    except ValueError as error:
        raise InputError(
            f"--screening {text!r} must be shares and rates, such as .005,.01,.02:20."
        ) from error
    return found[0], found[1]


def _write(lists: MeasuredLists, measured: Measurement, fractions: list[float]) -> None:
    """Write the table and the figure that were asked for."""
    config = lists.config
    if config.output is not None:
        write_measures(measured, config.output)
    if config.figure is not None:
        # matplotlib takes long to import, and measures without a figure need not wait for it.
        from pushrank.plots.curves import enrichment_figure

        of_figure = lists.weight, lists.groups, fractions, config.seed
        write_figure(enrichment_figure(measured, lists.rows.y, lists.scores, *of_figure), config.figure)


def _print(
    lists: MeasuredLists, measured: Measurement, found: list[MemberHits], promises: Promises | None
) -> None:
    """Print the main measures of each list and their differences; with --all the others, too."""
    config, y, rows = lists.config, lists.rows.y, lists.rows
    depth = round(measured.depth)
    by = "" if config.budget else ", a quarter as many as there are hits"
    say(
        f"{rows.table.path.name}: {len(y):,} rows, {int(y.sum()):,} hits with {rows.label_meaning}. "
        f"Looked at: the first {depth:,}{by}."
    )
    if config.every:
        header, cells = measured.cells()
        # What measures mean takes more room than most terminals have.
        n_shown = len(header) - ("meaning" in header and screen_width() < WIDTH_OF_MEANINGS)
        print_table(header[:n_shown], [row[:n_shown] for row in cells])
    else:
        print_table(*main_cells(measured))
    if config.screening:
        paper = paper_texts(measured)
        # Without intervals, and of one list, some columns are empty.
        paper = paper.loc[:, (paper != "").any()]
        print_table(list(paper), paper.to_numpy().tolist())
    for sentence in measured.sentences():
        say(sentence)
    if config.every:
        say(measured.why_no_intervals())
        print_table(*gains_cells(measured))
        n_groups = measured.n_groups
        drawn = "rows" if n_groups is None else f"{n_groups:,} groups by {config.group}"
        say(f"Intervals take the {drawn} to be independent of each other." * config.intervals)
    if found:
        lines = [[name, f"{weight:.3f}", *map(count_text, n)] for name, weight, *n in found]
        print_table(["member", "weight", f"hits in its first {depth:,}", "of them in no other's"], lines)
    if lists.alert is not None:
        say(lists.alert.count(next(iter(lists.scores.values())), y))
    for sentence in promises.sentences(depth) if promises and config.promise else ():
        say(sentence)


def main_cells(measured: Measurement) -> tuple[list[str], list[list[str]]]:
    """Return the table of the first screen: hits, precision, recall and average precision of each list."""
    depth = f"{measured.depth:,.0f} rows"
    header = ["", f"hits in {depth}", "precision", "recall", "average precision"]
    # A value is there only where --value asked for it.
    asked = ["value"] * ("value" in next(iter(measured.measures.values())))
    header += asked
    rows = []
    for name, figures in measured.measures.items():
        hits = figures["hits"]
        # A sum of shares may be a whole number but for rounding.
        estimate = round(float(hits.estimate), 9)
        n_hits = count_text(estimate)
        if not estimate.is_integer() and measured.n_groups is None:
            n_hits = f"{estimate:.1f} (ties)" if estimate >= 1.0 else n_hits
        n_hits += "" if np.isnan(hits.low) else f" ({count_text(hits.low)} to {count_text(hits.high)})"
        shares = (f"{figures[of].estimate:.3f}" for of in ("precision", "recall", "average_precision"))
        rows.append([name, n_hits, *shares, *(count_text(figures[of].estimate) for of in asked)])
    return header, rows


def show_periods(
    rows: LabelledRows, scores: dict[str, Floats], config: MeasureOptions, budget: Budget
) -> None:
    """Print what the first rows of every period hold, by the scores of each model."""
    table, y, name, level = rows.table, rows.y, str(config.time), config.promise
    warned: list[str] = []
    with refusing(), record_warnings(warned):
        time = np.zeros(len(table))
        if config.time is not None:
            # Batches may have names; all other periods are cut from dates or numbers.
            time = table.times(name, may_be_text=budget.per == "batch")
        measured = metrics.measure_periods(
            y,
            scores,
            budget=budget,
            time=time,
            value=None if config.value is None else table.numbers(config.value, "value"),
            confidence_level=CONFIDENCE_LEVEL if config.intervals else None,
            **config.limits(table),
        )
        promised = {}
        if level is not None:
            # Promises of several lists hold together where they share the chance to fail.
            at: dict[str, Any] = {"n_coming": COMING, "confidence_level": 1.0 - (1.0 - level) / len(scores)}
            days = budget.periods(time).codes
            for of, values in scores.items():
                if config.is_limited:
                    promised[of] = hits_of_coming_days(measured.hits[of], **at)
                else:
                    promised[of] = metrics.guarantee_days(y, values, days, k=budget.n, **at).hits
        # Limits choose other rows than the first.
        gain = None if config.is_limited else moving_gain(y, scores[measured.first], budget, time)
    for line in warned:
        warn(in_option_names(line))
    if config.as_json:
        facts: dict[str, Any] = {"moving": None if gain is None else gain.facts}
        if promised:
            facts |= {"promise": {"confidence_level": level, "hits": promised}}
        print_json({"file": table.path.name, **measured.summary(), "totals": _totals(measured), **facts})
        return
    if config.time is None:
        for of, [hits] in measured.hits.items():
            found = (
                f"{of} on {table.path.name}: {hits:g} hits in the best {budget.n:,} rows that keep the limits"
            )
            say(f"{found}, {measured.unlimited[of][0]:g} in the first {budget.n:,} without.")
        say("What limits cost one list has no interval; --budget 30/day --time COLUMN gives one.")
        return
    say(f"{table.path.name}: {measured.title()}")
    print_table(*measured.cells())
    for sentence in [*measured.sentences(every=config.every), *([gain.sentence] if gain else [])]:
        say(sentence)
    best, limits = ("the best", " within limits") if config.is_limited else ("the first", "")
    coming = f"the next {COMING} {budget.several}"
    for of, hits in promised.items():
        say(
            f"{of}: with {100 * (level or 0.0):g} % confidence {best} {budget.n:,} rows{limits} of each of "
            f"{coming} hold at least {hits:,} hits together, if these are as those were."
        )


def _totals(measured: PeriodMeasurement) -> dict[str, Any]:
    """Return the sums and means over periods that are printed, and the hits that random rows would hold."""
    by_chance = measured.looked_at * measured.positives / measured.sizes
    return {
        "periods": len(measured.sizes),
        "rows": int(measured.sizes.sum()),
        "positives": int(measured.positives.sum()),
        "positives_per_period": float(measured.positives.mean()),
        "random_hits_per_period": float(by_chance.mean()),
        "short_periods": int(np.sum(measured.sizes < measured.budget.n)),
    }


def paper_texts(measured: Measurement) -> pd.DataFrame:
    """Return :meth:`~pushrank.metrics.Measurement.to_paper` as texts, a measure named once, by its lists."""

    def texts(row: Any) -> list[str]:
        low, high, lists = row.low, row.high, f"{row.model} − {row.against}" if row.against else row.model
        shown, *ends = (number_text(number, low, high) for number in (row.figure, low, high))
        p_value = "" if np.isnan(row.p_value) else f"{row.p_value:.3f}" if row.p_value >= 0.001 else "< 0.001"
        interval = row.note or " to ".join(ends) * (not np.isnan(low))
        return [lists, "+" * (bool(row.against) and row.figure > 0.0) + shown, interval, p_value]

    frame = measured.to_paper()
    names = frame["measure"].mask(frame["measure"].duplicated(), "").str.replace("_", " ")
    columns = ["scores", "figure", f"{100 * (measured.confidence_level or 0.0):g} % interval", "p-value"]
    cells = pd.DataFrame(list(map(texts, frame.itertuples())), columns=columns, index=frame.index)
    return pd.concat([names.str.replace("bedroc", "BEDROC"), cells], axis=1)


def write_measures(measured: Measurement, path: Path) -> None:
    """Write figures and differences: as numbers, or in LaTeX as texts."""
    if path.suffix.lower() != ".tex":
        write_table(measured.to_paper(), path)
        return
    together = f" (the intervals of a measure's {len(measured.pairs)} differences hold together)"
    caption = f"{number_text(measured.n_positives)} positives in {number_text(measured.n_rows)} rows"
    how = {"caption": caption + together * (len(measured.pairs) > 1), "column_format": "llrrr"}
    style = paper_texts(measured).style.hide(axis="index").format(escape="latex")
    table = style.format_index(escape="latex", axis=1).to_latex(hrules=True, **how)
    with writing(path), atomic_write(path) as draft:
        # Not every LaTeX has the letter of a minus sign.
        table = re.sub(r"−|(?<=[&o] )-(?=\d)", "$-$", table)
        draft.write_text(f"% written by pushrank {version('pushrank')}\n{table}", encoding="utf-8")


def gains_cells(measured: Measurement) -> tuple[list[str], list[list[str]]]:
    """Return what the tenths of the lists hold: of one list in full, of several what is found so far."""
    table = next(iter(measured.gains.values()))
    columns = {
        f"found by {name}": [f"{100 * share:.1f} %" for share in gains.recall]
        for name, gains in measured.gains.items()
    }
    if len(columns) == 1:
        columns = {
            "positives in its tenth": [f"{count:,.1f}".removesuffix(".0") for count in table.positives],
            "precision there": [f"{100 * share:.1f} %" for share in table.precision],
            "lift there": [f"{lift:.2f}" for lift in table.lift],
            "share found so far": next(iter(columns.values())),
        }
    lines = zip((f"{number_text(rows)} rows" for rows in table.rows), *columns.values(), strict=True)
    return ["the first", *columns], [*map(list, lines)]
