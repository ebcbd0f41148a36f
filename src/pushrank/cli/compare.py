"""``pushrank compare``: which model finds most, and how sure is that?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from pushrank.budgets import Budget
from pushrank.cli import config_files
from pushrank.cli.command import command_line, options_of
from pushrank.cli.comparison import ALL, Compared, leakage_note, run_comparison, without_doubtful
from pushrank.cli.errors import InputError, say
from pushrank.cli.fit import ranker_of
from pushrank.cli.forms import CompareOptions, FitOptions
from pushrank.cli.options import FeatureSource
from pushrank.cli.release import Released, release
from pushrank.cli.report import write_comparison_report
from pushrank.cli.screen import print_json, print_table, say_sentence, warn_of_fits
from pushrank.cli.write import write_table
from pushrank.metrics.periods import COMING
from pushrank.model_selection.comparison import TOGETHER, RankerComparison
from pushrank.model_selection.errors import HITS, PRECISION
from pushrank.moving import MovingGain, moving_gain

NO_CHOICE = ("chosen", "choices", "expected", "differences", "may_be_best", "equivalent", "verdict")
"""What is not known where a column gives the label away."""


def compare_models(source: FeatureSource, config: CompareOptions) -> None:
    """Compare models, print which one to take and how sure that is, and fit it where it is to be saved."""
    compared = run_comparison(source, config)
    comparison, leaking = compared.comparison, compared.data.leaking
    fit = fit_options(config, compared)
    if config.output is not None:
        write_table(comparison.to_frame(), config.output)
    released = None
    if config.save is not None:
        ranker, name = ranker_of(fit.model or [], fit)
        learnt = compared.data.where(np.arange(len(compared.data.y)) < compared.data.n_learnt)
        released = release(ranker, name, learnt, compared.kept, fit)
    if config.report is not None:
        write_comparison_report(config.report, compared, config, released.lines if released else ())
    if config.as_json:
        print_json(facts_of(compared, released, fit_command(source, config, fit)))
    else:
        print_comparison(comparison, compared.title(), is_choice=not leaking, every=config.every)
        if (gain := None if leaking else gain_of_moving(compared)) is not None:
            say_sentence(gain.sentence)
    if leaking:
        why = f"No model is chosen: all this rests on {leakage_note(leaking)}"
        raise InputError(why, add=without_doubtful(compared.data), code=3)
    if not config.as_json:
        last = next_command(released, fit_command(source, config, fit))
        for line in released.lines if released else ():
            say_sentence(line)
        say(f"Next: {last}")


def next_command(released: Released | None, fit: str) -> str:
    """Return the command that fits the chosen model or, where it is saved, the one that takes it to rows."""
    return str(released.facts["commands"][0]) if released else fit


def fit_options(config: CompareOptions, compared: Compared) -> FitOptions:
    """Return the options by which fit makes the chosen model of all rows."""
    both = {part.name for part in fields(FitOptions)} & {part.name for part in fields(CompareOptions)}
    same = {name: getattr(config, name) for name in both - {"as_json"}}
    chosen, members = compared.comparison.chosen_, [*compared.models]
    # Models that were named are the members of an ensemble; others are those that fit takes by default.
    if chosen != TOGETHER or chosen in members or (config.model or [ALL]) == [ALL]:
        members = [chosen]
    same |= {"model": members, "output": config.save or Path("model.skops"), "time": compared.data.time}
    # The seed matters to rows that are drawn and kept: with others the choice would have seen them.
    return FitOptions(
        **same | {"budget": compared.budget_of_rows_learnt, "jobs": config.jobs if chosen == TOGETHER else 1}
    )


def fit_command(source: FeatureSource, config: CompareOptions, fit: FitOptions) -> str:
    """Return the command that fits the chosen model as it was compared."""
    given = options_of(replace(source, config=None, write_config=None))
    given |= options_of(replace(fit, force=False, jobs=1, quiet=False))
    file, kept = source.config, {} if source.config is None else config_files.load(source.config)
    if source.write_config is not None:
        file, kept = source.write_config, options_of(source) | options_of(config)
    # A file may say others than the fit has, where that has what is taken by default.
    given |= {name: getattr(fit, name) for name in ("seed", "jobs") if name in kept}
    return command_line("fit", source.data, given, file, kept)


def gain_of_moving(compared: Compared) -> MovingGain | None:
    """Return what the chosen model would find with calls that move between days, of a budget a day."""
    comparison, held_out = compared.comparison, compared.comparison.folds >= 0
    if not isinstance(comparison.budget, Budget) or comparison.chosen_ not in comparison.scores:
        return None
    scores, times = comparison.scores[comparison.chosen_][held_out], np.asarray(comparison.times)[held_out]
    return moving_gain(compared.data.y[held_out], scores, comparison.budget, times)


def facts_of(compared: Compared, released: Released | None, fit: str) -> dict[str, Any]:
    """Return every figure of a comparison, for other programs."""
    comparison, data = compared.comparison, compared.data
    facts = comparison.summary() | {
        "file": data.table.path.name,
        "rows": len(data.y),
        "rows_to_learn_from": data.n_learnt,
        "rows_held_out": int((comparison.folds >= 0).sum()),
        "rows_kept": 0 if compared.kept is None else len(compared.kept.y),
        "hits": int(data.y.sum()),
        "share_of_hits": float(data.y.mean()),
        "hits_held_out": comparison.n_positives,
        "budget": compared.budget,
        "budget_held_out": comparison.budget,
        "split": compared.split,
        "random": random_choice(comparison),
        "moving": None if (gain := gain_of_moving(compared)) is None else gain.facts,
        "fit": fit,
        "next": next_command(released, fit),
    }
    if released is not None:
        facts["saved"] = released.facts
    if data.leaking:
        facts |= dict.fromkeys((*NO_CHOICE, "fit", "next")) | {"leaking_columns": data.leaking}
        facts["add"] = without_doubtful(data)
    return facts


def random_choice(comparison: RankerComparison) -> float | None:
    """Return what rows in a random order would reach, where models are judged by hits."""
    held_out, days = comparison.folds >= 0, comparison.days
    if days is not None:
        return float(np.mean(days.looked_at * days.positives / days.sizes))
    share = (comparison.n_positives or 0) / max(int(held_out.sum()), 1)
    if comparison.criterion == HITS and isinstance(comparison.budget, int):
        return comparison.budget * share
    return share if comparison.criterion == PRECISION else None


def print_comparison(
    comparison: RankerComparison, title: str, *, is_choice: bool = True, every: bool = False
) -> None:
    """Print the table of models, the one to take, and how sure its lead is."""
    by, text = comparison.criterion, _figure(comparison)
    heads = ["", comparison.name_of(by), "fewer than the chosen, 95 % interval", "could be best", ""]
    gaps, rows = comparison.differences_, []
    place = {
        model: (-round(comparison.mean(model, by), 9), model != comparison.chosen_)
        for model in comparison.measures
    }
    ranked = sorted(place, key=place.__getitem__)
    for model in ranked:
        gap = gaps.get(model) if is_choice else None
        behind = "" if gap is None else f"{text(gap.mean)}{_between(gap.low, gap.high, text)}"
        standing = comparison.standing(model)
        marks = ["yes" if standing == "chosen" else standing, "chosen" * (standing == "chosen" and is_choice)]
        rows.append([model, text(comparison.mean(model, by)), behind, *marks])
    if (chance := random_choice(comparison)) is not None:
        rows.append(["random order", text(chance), "", "", ""])
    say_sentence(title)
    shown = len(heads) if is_choice else 2
    print_table(heads[:shown], [row[:shown] for row in rows])
    if every:
        measures = sorted(comparison.measures[comparison.baseline_], key=lambda name: name != by)
        cells = [[model, *(comparison.mean_and_error(model, name) for name in measures)] for model in ranked]
        print_table(["", *map(comparison.name_of, measures)], cells, "Means ± standard errors")
    if is_choice:
        lines = [chosen_sentence(comparison), *lead_sentences(comparison), *[comparison.verdict()] * every]
        for line in lines:
            say_sentence(line)
    warn_of_fits(comparison.warnings)


def _figure(comparison: RankerComparison) -> Callable[[float], str]:
    """Return how figures of the criterion are written: counts in two digits or more, others in three."""
    if comparison.criterion != HITS:
        return "{:.3f}".format
    size = comparison.mean(comparison.chosen_, HITS)
    digits = 0 if size >= 9.95 else 1 if size >= 0.95 else 2
    # A count that rounds to zero has no sign.
    return lambda count: f"{round(count, digits) + 0.0:,.{digits}f}"


def _hits(text: str) -> str:
    return f"{text} hit" + "s" * (text != "1")


def _between(low: float, high: float, text: Callable[[float], str]) -> str:
    """Return an interval in brackets, or nothing where there is none."""
    return f" ({text(low)} to {text(high)})" if np.isfinite([low, high]).all() and low != high else ""


def chosen_sentence(comparison: RankerComparison) -> str:
    """Return which model is chosen, what it finds, and what to expect of it."""
    chosen, by, text = comparison.chosen_, comparison.criterion, _figure(comparison)
    found = text(comparison.mean(chosen, by))
    if by == HITS:
        each = f" {comparison.budget.each}" if isinstance(comparison.budget, Budget) else ""
        found = f"finds {found} hits{each}"
    else:
        found = f"has {comparison.name_of(by)} {found}"
    _, low, high = comparison.expected_
    said = f"Chosen: {chosen}, which {found} in rows held out"
    if (days := comparison.days) is not None and by == HITS and np.isfinite(low):
        ends = days.means[chosen][:2]
        said += f" ({text(ends[0])} to {text(ends[1])} on average, over such {days.budget.several})"
    if not np.isfinite([low, high]).all() or low == high:
        return f"{said}."
    coming = f"in the next {len(comparison.folds):,} rows"
    if isinstance(comparison.budget, Budget):
        coming, low, high = f"in the next {COMING} {comparison.budget.several}", COMING * low, COMING * high
        text = "{:,.0f}".format
    elif comparison.budget is not None:
        coming = f"in the next {comparison.budget:,} of {int((comparison.folds >= 0).sum()):,}"
    return f"{said}; expect {text(low)} to {text(high)} {coming}."


def lead_sentences(comparison: RankerComparison) -> list[str]:
    """Return how far the chosen model is before the one that a reader would take, and if that is luck."""
    gaps, text = comparison.differences_, _figure(comparison)
    if not gaps:
        return []
    first = min(gaps, key=lambda model: gaps[model].mean)
    usual = comparison.baseline_ if comparison.baseline_ in gaps else first
    lead, is_hits = gaps[usual].mean, comparison.criterion == HITS
    said = []
    if text(lead) == text(0.0):
        said.append(f"{usual} finds as many." if is_hits else f"{usual} is as good.")
    elif lead > 0.0:
        size = _hits(text(lead)) if is_hits else text(lead)
        said.append(f"Its lead over {usual} ({size}) {_sure(comparison, usual)}.")
    # The choice goes by the whole list, so that another may have more hits in the budget.
    if gaps[first].mean < 0.0 and text(-gaps[first].mean) != text(0.0):
        more = text(-gaps[first].mean)
        more = f"{first} shows {_hits(more) if is_hits else more} more"
        luck = "beyond chance" if gaps[first].more_than_chance else "which may be luck"
        said.append(f"{more}, {luck}; {comparison.chosen_} is chosen, for {_reason(comparison, first)}.")
    return said


def _sure(comparison: RankerComparison, other: str) -> str:
    """Return whether the lead over another model is more than luck."""
    if comparison.differences_[other].more_than_chance:
        return "is more than luck"
    if other not in comparison.may_be_best_:
        return f"may be smaller, but with 95 % confidence {other} is not the best"
    n = comparison.n_positives
    return "may be luck" + (f": {n:,} hits cannot tell these models apart" if n is not None else "")


def _reason(comparison: RankerComparison, other: str) -> str:
    """Return why the chosen model is taken before one that shows more."""
    order, chosen = comparison.order_, comparison.chosen_
    means = [comparison.mean(model, order) for model in (chosen, other)]
    if means[0] > means[1]:
        figures = f"{means[0]:.3f} against {means[1]:.3f}"
        return f"it ranks hits higher over the whole list ({comparison.name_of(order)} {figures})"
    return {
        "most": "one list of several models mostly ranks hits higher, which may hold here",
        "single": "it is the best that is no ensemble",
        "simplest": "it is the simplest that could be best",
    }[comparison.choose]
