"""Processes side by side push all of their rows together."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Barrier

import numpy as np
import pytest

from pushrank.interop._collective import collective_problem
from pushrank.interop._objective import derivatives
from pushrank.interop.xgboost import PushXGBRanker, XGBMetric, XGBObjective, xgboost
from pushrank.objectives import PushObjective
from pushrank.pairs import BipartiteSample
from pushrank.prices import ExponentialPrice, LogOnePlus, Power


class Threads:
    """Threads in place of processes: what each gives is there for all when the last has given it."""

    def __init__(self, n):
        self.given, self.barrier = {}, Barrier(n, timeout=10.0)

    def of(self, rank):
        return self.Member(self, rank)

    class Member:
        def __init__(self, threads, rank):
            self.threads, self.rank = threads, rank

        def reduced(self, values, reduce):
            self.threads.given[self.rank] = np.array(values)
            self.threads.barrier.wait()
            found = reduce([self.threads.given[rank] for rank in sorted(self.threads.given)], axis=0)
            self.threads.barrier.wait()
            return found

        def sum(self, values):
            return self.reduced(values, np.sum)

        def max(self, values):
            return self.reduced(values, np.max)


def side_by_side(objective, parts, has_groups=False):
    """Return the gradients and the diagonals of parts, each in a thread, one after the other."""
    threads = Threads(len(parts))

    def of_part(rank):
        labels, weights, scores = parts[rank]
        problem = collective_problem(objective, threads.of(rank), labels, weights, has_groups)
        return (*derivatives(*problem, scores), problem[0].evaluation(problem[1], scores).value)

    with ThreadPoolExecutor(len(parts)) as pool:
        gradients, diagonals, values = zip(*pool.map(of_part, range(len(parts))), strict=True)
    return np.concatenate(gradients), np.concatenate(diagonals), values


@pytest.mark.parametrize(
    ("price", "side", "scale"),
    [
        (Power(4.0), "push", "log"),
        (Power(16.0), "pull", "log"),
        (Power(2.0), "both", "raw"),
        (LogOnePlus(), "pull", "mean"),
        (LogOnePlus(), "both", "mean"),
        (ExponentialPrice(), "push", "log"),
    ],
    ids=str,
)
def test_the_gradient_is_that_of_all_rows(price, side, scale):
    rng = np.random.default_rng(0)
    objective = PushObjective(price=price, side=side, scale=scale, bottom_weight=0.7)
    labels, scores = rng.random(60) < 0.3, 2.0 * rng.normal(size=60)
    labels[:20], labels[20:25] = False, True  # a process without a positive, and one without a negative
    for weights in (None, rng.integers(0, 3, 60) * 0.5):
        if isinstance(price, ExponentialPrice):
            scores = 0.1 * scores
        starts = [0, 20, 25, 25, 60]  # and one without rows
        parts = [
            (labels[a:b].astype(float), None if weights is None else weights[a:b], scores[a:b])
            for a, b in pairwise(starts)
        ]
        sample = BipartiteSample.from_mask(labels, weights)
        expected = (*derivatives(objective, sample, scores), objective.evaluation(sample, scores).value)
        found = side_by_side(objective, parts)
        for part, whole in zip(found, expected, strict=True):
            np.testing.assert_allclose(part, whole, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("objective", "labels", "message"),
    [
        (PushObjective("logistic"), [0, 1, 1], "use the exponential loss"),
        (PushObjective(price=Power(2), side="both", scale="log"), [0, 1, 1], "side='push' or 'pull'"),
        (PushObjective(price=Power(2), scale="mean"), [0, 1, 1], "use scale='log'"),
        (PushObjective(), [0, 2, 1], "grades of relevance"),
        (PushObjective(), [1, 1, 1], "rows of two labels"),
        (PushObjective(), [0, 1, np.nan], "labels are missing"),
    ],
)
def test_what_sums_over_all_rows_do_not_give_is_told_by_all(objective, labels, message):
    labels = np.array(labels, dtype=float)
    parts = [(labels[:2], None, np.zeros(2)), (labels[2:], None, np.zeros(1))]
    with pytest.raises(ValueError, match=message):
        side_by_side(objective, parts)
    if message == "use the exponential loss":
        with pytest.raises(ValueError, match="query groups"):
            side_by_side(PushObjective(), [(np.array([0.0, 1.0]), None, np.zeros(2))] * 2, has_groups=True)
        with pytest.raises(ValueError, match="must not be negative"):
            side_by_side(PushObjective(), [(np.array([0.0, 1.0]), np.array([1.0, -1.0]), np.zeros(2))] * 2)


def test_xgboosts_processes_are_asked(monkeypatch):
    """The objective takes part in the sums where there are others, and no measure is of its rows."""
    y, scores = np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.5, -0.2, 0.1, 0.7])
    push = XGBObjective(PushObjective(price=Power(4.0), scale="log"))
    alone = push(y, scores)
    monkeypatch.setattr(xgboost.collective, "get_world_size", lambda: 2)
    asked = []
    # the other process holds the same rows once more
    reductions = {xgboost.collective.Op.SUM: lambda a: 2.0 * a, xgboost.collective.Op.MAX: lambda a: a}
    monkeypatch.setattr(
        xgboost.collective, "allreduce", lambda values, op: asked.append(op) or reductions[op](values)
    )
    together = push(y, scores)
    assert 6 <= len(asked) <= 12
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12)
    with pytest.raises(NotImplementedError, match="mean over its processes"):
        XGBMetric("average_precision")(y, scores)
    with pytest.raises(NotImplementedError, match="has the rows of one of XGBoost's processes"):
        PushXGBRanker().fit(scores[:, None], y)
