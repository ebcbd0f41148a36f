"""How often the bound of an audit holds where the list makes its own labels, and what the audit costs.

    python -m experiments.acted.bounds > experiments/acted/bounds.txt
    python -m experiments.acted.bounds --quick    # 100 redraws, no data sets

Of 30 rows in every period the first 30 - a by the score of a model that stays as it is are listed, and a of
those below are audited: a fixed number drawn without replacement, or each row by a coin of one constant
chance, with as many heads in the mean. Only these rows have labels. Who draws the audit 1,000 times finds
numbers of positives that are hypergeometric or binomial in every period, so that no rows need to be drawn.
"""

from __future__ import annotations

import argparse
from functools import cache
from typing import NamedTuple

import numpy as np

from experiments.acted.streams import Floats, K, Stream, Whole, calls, flights, made, places
from pushrank.metrics import audit_bound

AUDITED = (1, 3, 5)
LEVEL = 0.95


class Below(NamedTuple):
    """What is below the list in every period: rows, positives, and the chance of a row to be audited."""

    n_rows: Whole
    n_positives: Whole
    chance: Floats
    hits: Whole


def below(stream: Stream, place: Whole, a: int, *, is_fixed: bool) -> Below:
    """Return the rows below the list of the first 30 - a rows of every period."""
    is_listed = place < K - a
    n_rows = np.bincount(stream.period[~is_listed])
    positives = [np.bincount(stream.period, stream.y * of).astype(int) for of in (~is_listed, is_listed)]
    chance = a / n_rows if is_fixed else np.full(len(n_rows), a / n_rows.mean())
    return Below(n_rows, positives[0], chance, positives[1])


def draw(rows: Below, a: int, n_redraws: int, rng: np.random.Generator, *, is_fixed: bool) -> Whole:
    """Return the audited positives of every redraw and period."""
    size = (n_redraws, len(rows.n_rows))
    if is_fixed:
        return rng.hypergeometric(rows.n_positives, rows.n_rows - rows.n_positives, a, size)
    return rng.binomial(rows.n_positives, rows.chance, size)


@cache
def bound(x: int, chance: float, n_rows: int, level: float) -> int:
    """Return the upper bound of the positives below the list."""
    return int(audit_bound(x, chance, n_rows=n_rows, confidence_level=level))


def bounds_at(rows: Below, drawn: Whole, ends: Whole, level: float) -> Whole:
    """Return the bound of every redraw, of all periods up to each of some ends."""
    bounds = np.empty((len(drawn), len(ends)), dtype=int)
    for look, end in enumerate(ends):
        chance, n_rows = float(rows.chance[:end].min()), int(rows.n_rows[:end].sum())
        totals, which = np.unique(drawn[:, :end].sum(axis=1), return_inverse=True)
        bounds[:, look] = np.array([bound(int(x), chance, n_rows, level) for x in totals])[which]
    return bounds


def held_at_all(rows: Below, drawn: Whole, ends: Whole, level: float) -> float:
    """Return the share of redraws in which the bounds at some ends hold together."""
    truth = np.cumsum(rows.n_positives)[ends - 1]
    return float((bounds_at(rows, drawn, ends, level) >= truth).all(axis=1).mean())


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="100 redraws, no data sets")
    quick = parser.parse_args().quick
    n_redraws = 100 if quick else 1000
    streams = {} if quick else {"flights": flights(), "calls": calls()}
    streams |= {kind: made(kind) for kind in ("drift", "storms", "rising")}
    ranked = {name: places(s.scores["logistic regression"], s.period) for name, s in streams.items()}

    print(f"Hits a period of {K} acted on: the list, what the audit adds in the mean, and what is lost to it")
    print(
        "stream    periods    rows  positives  list of 30",
        *(f"{a} audited: list   audit    lost" for a in AUDITED),
    )
    for name, stream in streams.items():
        n = len(stream.look_of_period)
        whole = stream.y[ranked[name] < K].sum() / n
        cells = []
        for a in AUDITED:
            rows = below(stream, ranked[name], a, is_fixed=True)
            listed, added = rows.hits.sum() / n, float(rows.chance @ rows.n_positives) / n
            cells.append(f"{listed:15.2f}{added:8.2f} {1 - (listed + added) / whole:6.1%}")
        print(f"{name:8s}{n:9d}{len(stream.y):8d}{stream.y.sum():11d}{whole:12.2f}", *cells)

    error = np.sqrt(LEVEL * (1.0 - LEVEL) / n_redraws)
    print(f"\nPositives below the list and its recall, means of {n_redraws} redraws; the bound is at {LEVEL}")
    print(
        f"held: the share of redraws in which the bound holds (at least {LEVEL - 3 * error:.3f} is asked for)"
    )
    print("                           positives below           recall of the list")
    print("stream    audited by       truth estimate   bound    truth estimate   least   naive    held")
    shares, looks = [], []
    for number, (name, stream) in enumerate(streams.items()):
        month_ends = np.flatnonzero(np.diff(stream.look_of_period, append=-1)) + 1
        day_ends = np.arange(1, len(stream.look_of_period) + 1)
        for a in AUDITED:
            for is_fixed in (True, False):
                rng = np.random.default_rng([number, a, is_fixed])
                rows = below(stream, ranked[name], a, is_fixed=is_fixed)
                drawn = draw(rows, a, n_redraws, rng, is_fixed=is_fixed)
                hits, truth = int(rows.hits.sum()), int(rows.n_positives.sum())
                estimate, at_most = (
                    drawn @ (1.0 / rows.chance),
                    bounds_at(rows, drawn, day_ends[-1:], LEVEL)[:, 0],
                )
                recalls = [hits / (hits + below) for below in (truth, estimate, at_most, drawn.sum(axis=1))]
                shares.append(float((at_most >= truth).mean()))
                shown = "".join(f"{np.mean(recall):9.3f}" for recall in recalls)
                print(
                    f"{name:8s}{a:9d} {'number' if is_fixed else 'chance'}{truth:12d}{estimate.mean():9.0f}"
                    f"{at_most.mean():8.0f}{shown}{shares[-1]:8.3f}"
                )
                at = [shares[-1]]
                for ends in (month_ends, day_ends):
                    at += [held_at_all(rows, drawn, ends, 1 - (1 - LEVEL) / n) for n in (1, len(ends))]
                looks.append((name, a, is_fixed, at))
    print(f"Least of all: {min(shares):.3f}.")

    print("\nShare of redraws in which the bound holds at all looks; spent: the level spent over the looks")
    print("                          the end  six ends (months)  spent  every period's end  spent")
    for name, a, is_fixed, at in looks:
        print(
            f"{name:8s}{a:9d} {'number' if is_fixed else 'chance'}{at[0]:9.3f}{at[1]:19.3f}{at[2]:7.3f}"
            f"{at[3]:20.3f}{at[4]:7.3f}"
        )
    least = np.min([at for *_, at in looks], axis=0)
    print(
        "least" + " " * 20 + f"{least[0]:8.3f}{least[1]:19.3f}{least[2]:7.3f}{least[3]:20.3f}{least[4]:7.3f}"
    )


if __name__ == "__main__":
    main()
