"""The alert threshold of a budget: the score from which a row is among those that can be acted on."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrank.bounds import decimals
from pushrank.cli.errors import warn
from pushrank.user_types import Floats


@dataclass(frozen=True)
class Alert:
    """The score that a budget's share of rows reach, ``n_reaching`` of ``n_scored`` held out, its range."""

    budget: int
    of_rows: int
    threshold: float
    low: float
    high: float
    n_scored: int
    n_reaching: int

    @classmethod
    def from_scores(cls, y: NDArray[np.bool_], scores: Floats, budget: int, of_rows: int) -> Alert | None:
        """Return the threshold by the scores of held-out rows, or warn that there is none."""
        from pushrank.metrics.thresholds import AtBudget, threshold_for

        try:
            # Rows held out may be fewer than those that the budget is of: as a share it holds for both.
            found = threshold_for(y, scores, AtBudget(fraction=budget / of_rows), random_state=0)
        except ValueError as error:
            # A model without a threshold still ranks rows, so that its fit is not lost to an error.
            warn(f"no alert threshold: {error}")
            return None
        limits = float(found.threshold), float(found.low), float(found.high)
        return cls(budget, of_rows, *limits, len(scores), int(found.n_rows))

    def text(self, score: float) -> str:
        """Return a score with as many digits as the interval of the threshold supports."""
        # Beyond 15 digits the decimals of a double say nothing.
        width = self.high - self.low
        return f"{score:.{decimals(width / 2.0, most=15)}f}" if width > 0.0 else f"{score:.6g}"

    def expected(self, n_rows: int) -> tuple[int, int]:
        """Return how many of so many new rows will reach the threshold, an interval of 95 %."""
        # scipy.stats takes long to import, which models without a threshold need not wait for.
        from scipy.stats import betabinom

        # The share of any continuous distribution above the k-th largest of n scores follows the beta
        # distribution with parameters k and n - k + 1; new rows are drawn by it.
        chances = betabinom(n_rows, self.n_reaching, self.n_scored - self.n_reaching + 1)
        up_to = np.cumsum(chances.pmf(np.arange(n_rows + 1)))
        low, high = np.searchsorted(up_to, [0.025, 0.975])
        return int(low), int(min(high, n_rows))

    def sentence(self) -> str:
        """Return the threshold, how it was found, and how many of as many new rows will reach it."""
        threshold, *ends = map(self.text, (self.threshold, self.low, self.high))
        low, high = self.expected(self.n_scored)
        return (
            f"{threshold} for a budget of {self.budget:,} of {self.of_rows:,} rows, 95 % interval "
            f"{' to '.join(ends)}. Scored by fits that had not seen them, {self.n_reaching:,} of "
            f"{self.n_scored:,} rows reach it; of as many new rows, {low:,} to {high:,} will (95 %)."
        )

    def facts(self, scores: Floats, y: NDArray[np.bool_] | None = None) -> dict[str, Any]:
        """Return how many rows with these scores, and positives, reach the threshold, for JSON."""
        alerts = scores >= self.threshold
        found = {"rows": int(alerts.sum()), "expected_rows": list(self.expected(len(scores)))}
        return asdict(self) | found | ({} if y is None else {"hits": int(alerts[y].sum())})

    def count(self, scores: Floats, y: NDArray[np.bool_] | None = None) -> str:
        """Return how many rows with these scores reach the threshold, and whether so many were expected."""
        found = self.facts(scores, y)
        n_alerts, (low, high) = found["rows"], found["expected_rows"]
        differ = ": the rows differ from those that the model was fitted to; evaluate it, or fit it again"
        differ *= not low <= n_alerts <= high
        hits = "" if y is None else f", {found['hits']:,} of them hits"
        return (
            f"{n_alerts:,} of {len(scores):,} rows reach the alert threshold, "
            f"{self.text(self.threshold)}{hits}; {low:,} to {high:,} were to be expected{differ}."
        )
