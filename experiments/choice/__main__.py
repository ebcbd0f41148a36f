"""Which rule takes the model that finds most among later rows, of those that cross-validation compares?

    python -m experiments.choice.columns --cache /a/folder --jobs 2    # the fits, resumed
    python -m experiments.choice --cache /a/folder --jobs 2            # rules, resumed; then the tables
    python -m experiments.choice                                       # the tables of what is kept

What is lost is the precision at half of the later positives, and the average precision, against the best of
six models on the later rows. That best is known afterwards only, and a maximum of noisy values, so that
differences between rules alone mean anything. ``later.csv`` has what each model
finds, ``taken.csv`` what each rule takes.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

from experiments.choice.columns import DRAWS, SETS, SIX, path_of
from experiments.choice.measured import DEFAULT, Case, measure
from experiments.choice.rules import SINGLE, list_if_more, list_unless, today
from experiments.protocol import append, versions
from pushrank.model_selection.comparison import CHOICES
from pushrank.model_selection.errors import AVERAGE_PRECISION, HITS

FOLDER = Path(__file__).parent
LATER, TAKEN = "later.csv", "taken.csv"
OURS = {choose: f"compare --choose {choose}" for choose in CHOICES}
MOST_HITS, TODAY = "most hits", "simplest that may be the best"
FEW, SEVERAL, MANY = 30, 50, 100


def of_case(cached: Path, name: str, draw: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return what later rows say of every model, and what every rule takes, for a training set."""
    case = Case.read(path_of(cached, name, draw), name, draw)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scores without any spread, as of rare rows
        found = measure(case)
    about = {"set": name, "draw": draw, "family": SETS[name].family}
    y, y_later = case.kept["y"], case.kept["y_test"]
    about |= {"positives": int(y.sum()), "rows": len(y), "share": y.mean(), "later share": y_later.mean()}
    seconds = dict(zip(case.models, case.kept["seconds"], strict=True))
    later = [
        {**about, "model": model, **values, "shown": found["folds"][model][HITS].mean() / found["budget"]}
        | {"AP shown": found["folds"][model][AVERAGE_PRECISION].mean(), "seconds": seconds.get(model, np.nan)}
        for model, values in found["later"].items()
    ]
    six, usual, every = ([m for m in of or case.models if m in case.models] for of in (SIX, DEFAULT, ()))
    taken = {name: rule(found, six) for name, rule in SINGLE.items()}
    for label, models in (("default", usual), ("all", every)):
        taken |= {f"{rule}, of {label}": SINGLE[rule](found, models) for rule in ("highest AP", MOST_HITS)}
    taken[f"{TODAY}, of all"] = today(found, every)
    name = "list by default"
    taken |= {f"list unless {x:g} AP less": list_unless(name, x)(found, usual) for x in (0.0, 0.02, 0.05)}
    taken["list if 1 hit or .01 AP more, as measured"] = list_if_more(name)(found, usual)
    expected = {}
    for choose, label in OURS.items():
        taken[label], expected[choose], *_ = found["choices"][name, choose]
    rows = [
        {"set": about["set"], "draw": draw, "rule": rule, "model": model} for rule, model in taken.items()
    ]
    for choose, label in OURS.items():
        next(row for row in rows if row["rule"] == label)["expected"] = expected[choose] / found["budget"]
    return later, rows


def measure_all(cached: Path, folder: Path, jobs: int) -> None:
    """Measure the training sets that the cache has and the kept results lack."""
    kept = pd.read_csv(folder / LATER)[["set", "draw"]] if (folder / LATER).exists() else pd.DataFrame()
    done = {*kept.itertuples(index=False, name=None)}
    tasks = [
        (name, draw)
        for name in SETS
        for draw in DRAWS
        if path_of(cached, name, draw).exists() and (name, draw) not in done
    ]
    run = joblib.Parallel(jobs, return_as="generator")
    for later, taken in run(joblib.delayed(of_case)(cached, *task) for task in tasks):
        append(folder / TAKEN, [{"expected": np.nan} | row for row in taken])
        append(folder / LATER, later)
        print(later[0]["draw"], later[0]["set"], flush=True)


def losses(later: pd.DataFrame, taken: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each rule and training set with what it loses."""
    keys = ["set", "draw"]
    best = later[later["model"].isin(SIX)].groupby(keys)[["precision", "average precision"]].max()
    always = later.assign(rule="always " + later["model"])[[*keys, "rule", "model"]]
    table = pd.concat(
        [taken, always[always["model"].isin([*SIX, *DEFAULT]) | always["model"].str.startswith("list")]]
    )
    table = table.merge(later.drop(columns=["precision at n+/4", "AP shown", "seconds"]), on=[*keys, "model"])
    table = table.merge(best, on=keys, suffixes=("", " of the best"))
    for name in ("precision", "average precision"):
        table[f"{name} lost"] = table[f"{name} of the best"] - table[name]
    table["bias"] = table["shown"] - table["precision"]
    table["bias of the expected"] = table["expected"] - table["precision"]
    return table


def means(table: pd.DataFrame, by: str = "set") -> pd.DataFrame:
    """Return the means over sets, or families, of what each rule loses on its training sets."""
    columns = ["precision lost", "average precision lost", "bias", "bias of the expected"]
    return table.groupby(["rule", by])[columns].mean()


def lines_of(table: pd.DataFrame) -> Iterator[str]:
    """Yield the table of rules: losses by set and by family, the worst tenth, few and many positives."""
    by_set, by_family = means(table), means(table, "family")
    of_set, of_family = by_set.groupby("rule"), by_family.groupby("rule")
    shown = pd.DataFrame(
        {
            "P lost": of_set["precision lost"].mean(),
            "(SE)": of_set["precision lost"].sem(),
            "AP lost": of_set["average precision lost"].mean(),
            "by family": of_family["precision lost"].mean(),
            "AP by family": of_family["average precision lost"].mean(),
            "worst tenth": table.groupby("rule")["precision lost"].apply(
                lambda lost: np.sort(lost)[-max(1, len(lost) // 10) :].mean()
            ),
        }
    )
    for label, which in (
        (f"P, < {FEW} n+", table["positives"] < FEW),
        (f"P, >= {SEVERAL}", table["positives"] >= SEVERAL),
        (f"P, >= {MANY}", table["positives"] >= MANY),
        ("P, 6,000 rows", table["rows"] > 1_500),
        ("AP, 6,000", table["rows"] > 1_500),
    ):
        column = "average precision lost" if label.startswith("AP") else "precision lost"
        shown[label] = means(table[which]).groupby("rule")[column].mean()
    shown["shown - later"] = of_set["bias"].mean()
    yield shown.sort_values("P lost").to_string(float_format=lambda value: f"{value:+.4f}")


def paired(table: pd.DataFrame, one: str, other: str, by: str = "set") -> str:
    """Return by how much one rule loses less than another, by set or family, with a signed-rank p-value."""
    said, of = [], means(table, by)
    for column in ("precision lost", "average precision lost"):
        gains = (of.loc[other, column] - of.loc[one, column]).dropna().round(9)
        p = wilcoxon(gains).pvalue if gains.any() else 1.0
        counts = f"{(gains > 0).sum():3d} above {(gains < 0).sum():3d} below"
        said.append(f"{gains.mean():+.4f} ({gains.sem():.4f}) {counts} p = {p:.4f}")
    return f"{one:36s} against {other:44s} P {said[0]} | AP {said[1]}"


def list_beside_single(later: pd.DataFrame, taken: pd.DataFrame) -> Iterator[str]:
    """Yield what the list gains on the best single model, by what cross-validation shows of it."""
    keys = ["set", "draw", "model"]
    values = later.set_index(keys)[["precision", "average precision", "AP shown"]]
    single = taken[taken["rule"] == OURS["single"]]
    of_single = values.loc[list(single[keys].itertuples(index=False, name=None))].to_numpy()
    of_list = values.loc[
        [(name, draw, "list by default") for name, draw in zip(single["set"], single["draw"], strict=True)]
    ]
    gains = pd.DataFrame(of_list.to_numpy() - of_single, columns=values.columns)
    gains["set"] = single["set"].to_numpy()
    for low, high in ((-1.0, -0.05), (-0.05, -0.02), (-0.02, 0.0), (0.0, 0.02), (0.02, 1.0), (-1.0, -0.02)):
        some = gains[(gains["AP shown"] > low) & (gains["AP shown"] <= high)]
        by_set = some.groupby("set")[["precision", "average precision"]].mean()
        said = [
            f"{of.mean():+.4f} ({of.sem():.4f}) {(of > 0).sum():3d} above {(of < 0).sum():3d} below"
            for _, of in by_set.items()
        ]
        label = f"{low:+.2f} to {high:+.2f}"
        yield f"  {label:16s} {len(some):4d} of {len(by_set):3d} sets: P {said[0]} | AP {said[1]}"


def report(later: pd.DataFrame, taken: pd.DataFrame) -> str:
    """Return all tables."""
    table = losses(later, taken)
    cases = table.drop_duplicates(["set", "draw"])
    by_set = cases.groupby("set").agg({"positives": "median", "rows": "max"})
    lines = [
        f"{len(cases)} training sets of {len(by_set)} sets in {cases['family'].nunique()} families; "
        f"{(by_set['positives'] < FEW).sum()} sets with fewer than {FEW} positives to learn from; "
        f"{(cases['rows'] > 1_500).sum()} training sets of 6,000 rows.",
        "",
        "What is lost, by rule; means over sets of the means over their training sets",
        *lines_of(table),
        "",
        "Picked on half of the families, confirmed on the others (precision and average precision lost)",
    ]
    families = sorted(table["family"].unique())
    singles = [*SINGLE]
    for half, (picked_on, confirmed_on) in enumerate(
        ((families[::2], families[1::2]), (families[1::2], families[::2]))
    ):
        of = [
            means(table[table["family"].isin(fs)]).groupby("rule").mean() for fs in (picked_on, confirmed_on)
        ]
        lost = ["precision lost", "average precision lost"]
        for label, rules in (("single models", singles), ("lists, too", [*of[0].index])):
            rules = [rule for rule in rules if rule in of[0].index and "always" not in rule]
            best = of[0].loc[rules, lost].sum(axis=1).idxmin()
            for rule in dict.fromkeys([best, OURS["most"], OURS["single"], MOST_HITS, TODAY]):
                first, second = (frame.loc[rule, lost].round(4).tolist() for frame in of)
                mark = " (the least of the half)" if rule == best else ""
                lines.append(f"  half {half + 1}, {label:14s} {rule:44s} {first} then {second}{mark}")
    lines += ["", "Gains, paired by set: mean (standard error), sets above and below, signed-rank p"]
    for one, other in (
        (OURS["most"], TODAY),
        (OURS["most"], MOST_HITS),
        (OURS["most"], f"{MOST_HITS}, of default"),
        (OURS["most"], OURS["single"]),
        (OURS["single"], TODAY),
        (OURS["single"], MOST_HITS),
        (OURS["single"], "highest AP"),
        ("highest AP, of default", "highest AP, of all"),
        ("always list by default", OURS["most"]),
        ("always list by default", "always list of five"),
        ("always list by default", "always list of twelve"),
    ):
        lines += [paired(table, one, other), paired(table, one, other, "family") + " by family"]
        enough = table[table["positives"] >= SEVERAL]
        lines.append(paired(enough, one, other) + f" with {SEVERAL} positives or more")
    lines += ["", "What the list finds later beyond the best single model, by the AP it shows beyond that"]
    lines += list_beside_single(later, taken)
    lines += ["", "What is expected of the model taken, less what later rows show (precision; over sets)"]
    lines.append(
        "(as many later: sets whose share of positives is the same later within 6 %, as by time it is not)"
    )
    alike = (table["share"] / table["later share"] - 1.0).abs() < 0.06
    for choose, label in OURS.items():
        for said, which in (
            ("all", table["rows"] > 0),
            ("as many later", alike),
            (f"< {FEW} positives", alike & (table["positives"] < FEW)),
            (f">= {MANY}", alike & (table["positives"] >= MANY)),
        ):
            of = means(table[which & (table["rule"] == label)])[["bias", "bias of the expected"]]
            shown, expected = of.mean(), of.sem()
            lines.append(
                f"  {choose:9s} {said:16s} shown {shown.iloc[0]:+.4f} ({expected.iloc[0]:.4f}), expected "
                f"{shown.iloc[1]:+.4f} ({expected.iloc[1]:.4f})"
            )
    counts = taken[taken["rule"].isin(OURS.values())].groupby(["rule", "model"]).size()
    return "\n".join([*lines, "", "What is taken", counts.to_string()])


def main() -> None:
    """Measure what the cache has, then report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, help="the folder that columns.py wrote")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where results are kept")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.cache is not None:
        measure_all(arguments.cache, arguments.folder, arguments.jobs)
    text = report(pd.read_csv(arguments.folder / LATER), pd.read_csv(arguments.folder / TAKEN))
    (arguments.folder / "results.txt").write_text(f"{versions()}\n{text}\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
