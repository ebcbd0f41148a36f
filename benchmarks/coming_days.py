"""Do ranges and promises for the next seven days hold as often as they say?

    python benchmarks/coming_days.py > benchmarks/coming_days.txt

The hits of past days and of seven days to come are drawn again and again: independent days of a Poisson
distribution, overdispersed ones, whose mean varies from day to day by a gamma distribution, and days of
storms, in which neighbours are alike. Printed is how often the range of ``PeriodMeasurement.coming`` holds
the hits of the seven days, how often these are no fewer than ``guarantee_days`` promises, and
both beside the mean; and how often the interval of a share of days holds the share of days with a hit. The
line on top says what 95 % less three standard errors is for so many draws. Where days are independent a
lower number is a failure, and the program ends with an error. For days of storms nothing is proved: they
are not exchangeable.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from pushrank._base.numeric import Floats
from pushrank.metrics.periods import COMING, coming_interval, share_interval
from pushrank.metrics.promises.days import hits_of_coming_days

LENGTHS = (21, 58, 180)
BUDGET = 20
Days = Callable[[np.random.Generator, int], Floats]


def overdispersed(mean: float, ratio: float) -> Days:
    """Return days whose mean is gamma distributed, with this ratio of its variance to its square."""
    return lambda rng, n: rng.poisson(rng.gamma(1.0 / ratio, mean * ratio, n)).astype(np.float64)


def independent(mean: float) -> Days:
    """Return independent days of this mean."""
    return lambda rng, n: rng.poisson(mean, n).astype(np.float64)


def stormy(mean: float, spread: float, carried: float) -> Days:
    """Return days whose mean is the exponential of an autoregressive series."""

    def draw(rng: np.random.Generator, n: int) -> Floats:
        level, shocks = np.empty(n), rng.normal(size=n)
        level[0] = shocks[0]
        for day in range(1, n):
            level[day] = carried * level[day - 1] + np.sqrt(1.0 - carried**2) * shocks[day]
        return rng.poisson(mean * np.exp(spread * level - spread**2 / 2.0)).astype(np.float64)

    return draw


KINDS: dict[str, Days] = {
    "independent, 0.3 a day": independent(0.3),
    "independent, 1 a day": independent(1.0),
    "independent, 5.8 a day": independent(5.8),
    "overdispersed by 1, 1 a day": overdispersed(1.0, 1.0),
    "overdispersed by 0.5, 5.8 a day": overdispersed(5.8, 0.5),
    "overdispersed by 1, 5.8 a day": overdispersed(5.8, 1.0),
    "storms, 5.8 a day": stormy(5.8, 0.5, 0.6),
}


def main() -> None:
    """Print coverage by kind and number of past days."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    n_draws = parser.parse_args().draws
    least = 0.95 - 3.0 * np.sqrt(0.95 * 0.05 / n_draws)
    print(
        f"{n_draws:,} draws each; 95 % less three standard errors is {100 * least:.1f} %. Next {COMING} days:"
    )
    print(f"{'':32}{'past':>5}{'in range':>10}{'width':>7}{'kept':>7}{'promised':>10}{'mean':>7}{'share':>7}")
    failed = []
    for kind, draw in KINDS.items():
        for n_days in LENGTHS:
            rng = np.random.default_rng(n_days)
            held, sizes = np.zeros(3), np.zeros(3)
            truth = np.mean(draw(np.random.default_rng(0), 200_000).clip(max=BUDGET) >= 1.0)
            for _ in range(n_draws):
                hits = draw(rng, n_days + COMING).clip(max=BUDGET)
                past, coming = hits[:n_days], hits[n_days:].sum()
                low, high, *_ = coming_interval(past, 0.95, COMING, BUDGET)
                promise = hits_of_coming_days(past, COMING)
                least_share, most_share, *_ = share_interval(past, 1.0, 0.95)
                # Where all days are alike there is no range.
                is_in = np.isnan(low) or round(low) <= coming <= round(high)
                held += [is_in, coming >= promise, least_share <= truth <= most_share]
                sizes += [np.nan_to_num(high - low), promise, coming]
            (in_range, kept, share), (width, promised, mean) = held / n_draws, sizes / n_draws
            print(
                f"{kind:32}{n_days:5}{100 * in_range:10.1f}{width:7.1f}{100 * kept:7.1f}{promised:10.1f}"
                f"{mean:7.1f}{100 * share:7.1f}",
                flush=True,
            )
            if min(in_range, kept, share) < least and not kind.startswith("storms"):
                failed.append(f"{kind}, {n_days} days")
    if failed:
        raise SystemExit(f"too low: {'; '.join(failed)}")


if __name__ == "__main__":
    main()
