"""Does the interval of another model's hits hold, on labels that the list of the model in use has made?

    python -m experiments.acted.other_model > experiments/acted/other_model.txt

Flights from July to December, by models of January to June that stay as they are. The model in use lists the
first 27 of every day, and 3 of those below are audited. How many hits more the first 27 of the other model
have is known where these were listed; of its other rows the audit says how many are positive.
"""

from __future__ import annotations

import numpy as np

from experiments.acted.streams import Floats, K, Stream, Whole, flights, places
from pushrank.metrics import audit_bound

N_AUDITED = 3
N_REDRAWS = 500
LEVEL = 0.95
NAMES = ("logistic regression", "gradient boosting")


def difference_interval(
    hits: int, known_hits: int, found: int, chances: Floats, n_unlisted: int, level: float = LEVEL
) -> tuple[int, int]:
    """Return the interval of how many hits more the other list has than the list in use."""
    least, most = float(chances.min()), float(chances.max())
    low, high = audit_bound(
        found, least, chance_max=most, n_rows=n_unlisted, confidence_level=level, side="two-sided"
    )
    return known_hits - hits + low, known_hits - hits + high


def judge(stream: Stream, in_use: str, other: str, *, is_fixed: bool) -> None:
    """Print how often the interval of the difference holds over redraws of the audit."""
    k = K - N_AUDITED
    place = {name: places(stream.scores[name], stream.period) for name in (in_use, other)}
    is_listed, is_other = place[in_use] < k, place[other] < k
    n_days = int(stream.period[-1]) + 1
    rows_below = np.bincount(stream.period[~is_listed], minlength=n_days)
    unlisted: Whole = np.bincount(stream.period, stream.y * (is_other & ~is_listed)).astype(int)
    chances = N_AUDITED / (rows_below if is_fixed else np.full(n_days, rows_below.mean()))
    hits, known = int(stream.y[is_listed].sum()), int(stream.y[is_listed & is_other].sum())
    truth = known + int(unlisted.sum()) - hits
    rng = np.random.default_rng([NAMES.index(in_use), is_fixed])
    size = (N_REDRAWS, n_days)
    if is_fixed:
        drawn = rng.hypergeometric(unlisted, rows_below - unlisted, N_AUDITED, size).sum(axis=1)
    else:
        drawn = rng.binomial(unlisted, chances, size).sum(axis=1)
    n_unlisted = int((is_other & ~is_listed).sum())
    values, which = np.unique(drawn, return_inverse=True)
    by_value = [difference_interval(hits, known, int(x), chances, n_unlisted) for x in values]
    low, high = np.array(by_value)[which].T
    holds = (low <= truth) & (truth <= high)
    naive = (known + drawn - hits) / n_days
    print(
        f"{in_use:20s} {'number' if is_fixed else 'chance':8s}{hits / n_days:6.2f}{truth / n_days:+8.2f}"
        f"{n_unlisted / n_days:9.1f}{drawn.mean():7.1f}{naive.mean():+8.2f}{low.mean() / n_days:+8.2f}"
        f"{high.mean() / n_days:+8.2f}{(high - low).mean() / n_days:7.2f}{holds.mean():7.3f}"
    )


def main() -> None:
    """Print the table."""
    stream = flights(NAMES)
    error = np.sqrt(LEVEL * (1.0 - LEVEL) / N_REDRAWS)
    print(f"Flights, {K - N_AUDITED} listed, {N_AUDITED} audited; {N_REDRAWS} redraws; figures are of a day")
    print("hits: of the list in use; differs: how many hits more the other list has; unlisted: its rows that")
    print("are not on the list in use; found: the audited positives among them in all; naive: the difference")
    print("by labelled rows alone; low, high, width: of the interval, in the mean; held: how often it holds")
    print(f"the truth, at {LEVEL} (at least {LEVEL - 3 * error:.3f} is asked for)\n")
    print("in use               audited   hits differs unlisted  found   naive     low    high  width   held")
    for in_use, other in (NAMES, NAMES[::-1]):
        for is_fixed in (True, False):
            judge(stream, in_use, other, is_fixed=is_fixed)


if __name__ == "__main__":
    main()
