"""What does a limit per series cost one list of compounds, and how many series does it find?

    pip install -e ".[benchmark,nightly]"
    PUSHRANK_DATA=folder python -m experiments.rounds.one_list > experiments/rounds/one_list.txt

Logistic regression learns from a random half of a library, and ranks the other half, whose first 96 compounds
are a plate: without a limit, the best plate of at most so many compounds of a series, and what is left of the
first plate once others are struck off. Means over ten halves, with the paired difference to the plate
without a limit.
"""

from __future__ import annotations

import numpy as np
from rdkit import RDLogger
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from experiments.rounds.plates import TARGETS, Library, Whole, library
from pushrank.limits import Limits, select

SIZE, N_HALVES, LIMITS = 96, 10, (4, 2, 1)


def plates(rows: Library, seed: int) -> dict[str, Whole]:
    """Return the compounds of each plate, of a half that was not learnt from."""
    learnt, others = train_test_split(
        np.arange(len(rows.active)), test_size=0.5, stratify=rows.active, random_state=seed
    )
    model = LogisticRegression(max_iter=1000).fit(rows.X[learnt], rows.active[learnt])
    scores, series = model.decision_function(rows.X[others]), rows.series[others]
    first = select(scores, SIZE)
    found = {"no limit": others[first]}
    for most in LIMITS:
        limited = select(scores, SIZE, Limits({"series": most}), X={"series": series})
        found[f"at most {most}"] = others[limited]
        place = [np.count_nonzero(series[first[:at]] == series[row]) for at, row in enumerate(first)]
        found[f"  struck off to {most}"] = others[first[np.array(place) < most]]
    return found


def main() -> None:
    """Print a table for each target."""
    RDLogger.DisableLog("rdApp.*")
    print(f"plates of {SIZE} compounds from half a library: means over {N_HALVES} halves")
    for name, target in TARGETS:
        rows = library(name, target)
        counted: dict[str, list[tuple[int, int, int]]] = {}
        for seed in range(N_HALVES):
            for rule, plate in plates(rows, seed).items():
                listed = np.isin(np.arange(len(rows.active)), plate)
                counts = len(plate), int(rows.active[plate].sum()), rows.series_of(listed)
                counted.setdefault(rule, []).append(counts)
        print(f"\n{target}: compounds, actives, and series of actives, with differences and their errors")
        base = np.array(counted["no limit"])
        for rule, of in counted.items():
            more = np.array(of) - base
            errors = more.std(axis=0, ddof=1) / np.sqrt(N_HALVES)
            cells = (
                f"{mean:7.1f}" + (f" {change:+6.1f} ({error:.1f})" if change else " " * 13)
                for mean, change, error in zip(np.mean(of, axis=0), more.mean(axis=0), errors, strict=True)
            )
            print(f"  {rule:18s}{''.join(cells)}".rstrip(), flush=True)


if __name__ == "__main__":
    main()
