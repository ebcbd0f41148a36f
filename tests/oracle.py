"""Objectives and metrics written out over all pairs: slow, plain, and independent of the package."""

import itertools
import math

import numpy as np
from scipy.stats import rankdata

LOSSES = {
    "Exponential": lambda r: np.exp(-r),
    "Logistic": lambda r: np.log1p(np.exp(-r)),
    "Hinge": lambda r: np.maximum(0, 1 - r),
    "Sigmoid": lambda r: 1 / (1 + np.exp(r)),
    "SmoothedHinge": lambda r: np.log1p(np.exp(4 * (1 - r))) / 4,
    "SquaredHinge": lambda r: np.maximum(0, 1 - r) ** 2,
    "Ramp": lambda r: np.where(r <= 0, 1.0, np.where(r >= 1, 0.0, 1 - r)),
    "ZeroOne": lambda r: (r <= 0).astype(float),
}


def price(name: str, p: float):
    """Return g as a function of a vector of inner sums and its weights, totalled."""
    totals = {
        "Identity": lambda h, w: w @ h,
        "Power": lambda h, w: w @ h**p,
        "ExponentialPrice": lambda h, w: w @ np.exp(h),
        "LogOnePlus": lambda h, w: w @ np.log1p(h),
        "Maximum": lambda h, w: h[w > 0].max(),
    }
    return totals[name]


def largest_share(h, w, share: float):
    """Return the mean of the largest values, taken one by one until their weight is the share of all."""
    total, room = 0.0, share * w.sum()
    for k in np.argsort(-h, kind="stable"):
        taken = min(w[k], room)
        total, room = total + taken * h[k], room - taken
    return total / (share * w.sum())


def objective(y, scores, weights, loss: str, price_name: str, p: float, side: str, bottom_weight: float):
    """Return the raw objective."""
    y = np.asarray(y, dtype=bool)
    losses = LOSSES[loss](scores[y][:, None] - scores[~y][None, :])
    total = price(price_name, p)
    positive, negative = weights[y], weights[~y]
    push = total(positive @ losses, negative)
    pull = total(losses @ negative, positive)
    return {"push": push, "pull": pull, "both": push + bottom_weight * pull}[side]


# Metrics of a list without weights: each formula is a function of labels, scores, the rule for ties and the
# metric's own parameters, written out over all pairs or over all orders of tied rows.

TIED_ERROR = {"pessimistic": 1.0, "half": 0.5, "optimistic": 0.0}
SHARES = (0.1, 0.25, 0.4, 0.5, 0.77, 1.0)
INVERSE_PRICES = {np.square: np.sqrt, np.log1p: np.expm1}


def pair_errors(y, scores, ties):
    """Return the error of every pair, shape (positives, negatives)."""
    s, t = scores[y][:, None], scores[~y][None, :]
    return (s < t) + TIED_ERROR[ties] * (s == t)


def orders(y, scores, ties):
    """Return the labels best first; under half ties, in every order of the tied rows."""
    first = {"pessimistic": y, "optimistic": ~y}
    if ties != "half":
        return [y[np.lexsort((first[ties], -scores))]]
    groups = [y[scores == value] for value in np.unique(scores)[::-1]]
    arrangements = [list(set(itertools.permutations(group.tolist()))) for group in groups]
    choices = itertools.product(*arrangements)
    return [np.array(list(itertools.chain(*choice)), dtype=bool) for choice in choices]


def mean_over_orders(of_order):
    """Return the formula of a metric that is the mean of a function of the labels over all orders."""
    return lambda y, scores, ties, **parameters: np.mean(
        [of_order(order, **parameters) for order in orders(y, scores, ties)]
    )


def sum_over_ranks(discount):
    """Return the formula of a metric that sums a function of the ranks of the positives."""

    def formula(y, scores, ties, **parameters):
        if ties in ("min", "max"):
            return discount(rankdata(-scores, method=ties)[y], **parameters).sum()
        ranks = (np.flatnonzero(order) + 1.0 for order in orders(y, scores, ties))
        return np.mean([discount(r, **parameters).sum() for r in ranks])

    return formula


def depth(y, k=None, fraction=None, fraction_of_positives=None):
    """Return the number of first rows."""
    if fraction is not None:
        return math.ceil(fraction * len(y) - 1e-9)
    return k if k is not None else max(round(fraction_of_positives * y.sum()), 1)


def tie_ends(y, scores):
    """Return the number of rows and of positives to the end of each tie, best first."""
    cuts = np.unique(scores)[::-1]
    return [np.sum(scores >= cut) for cut in cuts], [np.sum(y & (scores >= cut)) for cut in cuts]


def rp_error(y, scores, ties, p=1.0, scale="raw"):
    heights = pair_errors(y, scores, ties).sum(axis=0)
    total = np.sum(heights**p)
    if scale == "mean":
        return np.mean(heights**p) ** (1 / p) / y.sum()
    return total if scale == "raw" else np.log(total) / p if total else -np.inf


def rg_error(y, scores, ties, price=np.square, scale="raw"):
    prices = price(pair_errors(y, scores, ties).sum(axis=0))
    return prices.sum() if scale == "raw" else INVERSE_PRICES[price](prices.mean()) / y.sum()


def margin_error(y, scores, ties, theta=0.0, p=1.0):
    if p == math.inf:
        return pair_errors(y, scores - theta * y, ties).mean(axis=0).max()
    return rp_error(y, scores - theta * y, ties, p, "mean")


def margins(y, scores):
    return scores[y][:, None] - scores[~y][None, :]


def average_precision(y, scores, ties):
    if ties == "half":  # all rows of a tie enter together
        return np.mean([np.mean(y[scores >= score]) for score in scores[y]])
    [order] = orders(y, scores, ties)
    return np.mean(np.arange(1, y.sum() + 1) / (np.flatnonzero(order) + 1))


def precision_at_recall(y, scores, ties, recall=0.5):
    needed = math.ceil(recall * y.sum() - 1e-9)
    if ties == "half":
        return next(hits / rows for rows, hits in zip(*tie_ends(y, scores), strict=True) if hits >= needed)
    [order] = orders(y, scores, ties)
    return needed / (np.flatnonzero(order)[needed - 1] + 1)


def recall_at_precision(y, scores, ties, precision=0.5):
    rows, hits = tie_ends(y, scores)
    if ties == "optimistic":
        [order] = orders(y, scores, ties)
        rows = np.flatnonzero(order) + 1
        hits = np.arange(1, len(rows) + 1)
    pairs = zip(rows, hits, strict=True)
    return max((h / y.sum() for r, h in pairs if h / r >= precision - 1e-12), default=0)


def partial_auc(y, scores, ties, max_fpr=0.1, min_tpr=0.0, standardize=True):
    points = [(0.0, 0.0)]
    for rows, hits in zip(*tie_ends(y, scores), strict=True):
        x, end = points[-1], ((rows - hits) / np.sum(~y), hits / y.sum())
        points += {"pessimistic": [(end[0], x[1])], "optimistic": [(x[0], end[1])], "half": []}[ties] + [end]
    area = 0.0
    for (x, low), (to_x, high) in itertools.pairwise(points):
        if to_x > x and x < max_fpr:
            # Between the points where it meets the floor and the right end, the curve is a line.
            slope, end = (high - low) / (to_x - x), min(to_x, max_fpr)
            meets = x if slope == 0.0 else np.clip(x + (min_tpr - low) / slope, x, end)
            heights = [max(low + slope * (at - x) - min_tpr, 0.0) for at in (x, meets, end)]
            area += (meets - x) * (heights[0] + heights[1]) / 2
            area += (end - meets) * (heights[1] + heights[2]) / 2
    chance = max(max_fpr - min_tpr, 0.0) ** 2 / 2
    return (1 + (area - chance) / (max_fpr * (1 - min_tpr) - chance)) / 2 if standardize else area


def value_at_k(y, scores, ties, *, value, normalize=False, **first_rows):
    worth = np.where(y, value, 0.0)
    first = {"pessimistic": y, "optimistic": ~y, "half": np.zeros(len(y))}[ties]
    tie_breaks = itertools.permutations(range(len(y)))
    lists = [worth[np.lexsort((tie_break, first, -scores))] for tie_break in tie_breaks]
    caught = np.mean([row[: depth(y, **first_rows)].sum() for row in lists])
    return caught / worth.sum() if normalize else caught


def enhancement(order, alpha=20.0):
    """Return RIE by the formulas of Truchon and Bayly."""
    n = len(order)
    discounts = np.exp(-alpha * (np.flatnonzero(order) + 1) / n)
    return discounts.mean() / ((1 - np.exp(-alpha)) / (np.exp(alpha / n) - 1) / n)


def bedroc(order, alpha=20.0):
    share = order.mean()
    most = (1 - np.exp(-alpha * share)) / (share * (1 - np.exp(-alpha)))
    least = (1 - np.exp(alpha * share)) / (share * (1 - np.exp(alpha)))
    return (enhancement(order, alpha) - least) / (most - least)


def ndcg_at_k(order, gain="linear", **first_rows):
    assert gain in ("linear", "exponential")  # which is the same for labels of 0 and 1
    k = depth(order, **first_rows) if first_rows else len(order)
    discounts = 1 / np.log2(np.arange(2, len(order) + 2))
    return order[:k] @ discounts[:k] / discounts[: min(k, order.sum())].sum()


def positives_at_top(y, scores, ties, normalize=False):
    count = y.sum() - pair_errors(y, scores, ties).sum(axis=0).max()
    return count / y.sum() if normalize else count


def net_benefit(order, threshold, **first_rows):
    first = order[: depth(order, **first_rows)]
    return (first.sum() - (~first).sum() * threshold / (1 - threshold)) / len(order)


def of_first_rows(of_labels):
    """Return the formula of a metric of the labels of the first rows and of all."""
    return mean_over_orders(lambda order, **parameters: of_labels(order[: depth(order, **parameters)], order))


METRICS = {
    "auc": lambda y, scores, ties: 1 - pair_errors(y, scores, ties).mean(),
    "average_precision": average_precision,
    "average_reciprocal_rank": sum_over_ranks(lambda ranks: 1 / ranks),
    "bedroc": mean_over_orders(bedroc),
    "discounted_cumulative_gain": sum_over_ranks(
        lambda ranks, log_base=2.0: np.log(log_base) / np.log(1 + ranks)
    ),
    "enrichment_factor": of_first_rows(lambda first, order: first.mean() / order.mean()),
    "lift": of_first_rows(lambda first, order: first.mean() / order.mean()),
    "margin": lambda y, scores, norm=1.0: margins(y, scores).min() / norm,
    "margin_error": margin_error,
    "mean_reciprocal_rank": mean_over_orders(lambda order: 1 / (np.argmax(order) + 1)),
    "ndcg_at_k": mean_over_orders(ndcg_at_k),
    "net_benefit": mean_over_orders(net_benefit),
    "partial_auc": partial_auc,
    "positives_at_top": positives_at_top,
    "precision_at_k": of_first_rows(lambda first, _: first.mean()),
    "precision_at_recall": precision_at_recall,
    "r_max": lambda y, scores, ties: pair_errors(y, scores, ties).sum(axis=0).max(),
    "rank_error": sum_over_ranks(lambda ranks, price=np.log1p: price(ranks)),
    "recall_at_k": of_first_rows(lambda first, order: first.sum() / order.sum()),
    "recall_at_precision": recall_at_precision,
    "rg_error": rg_error,
    "rp_error": rp_error,
    "smooth_margin": lambda y, scores, norm=1.0: -np.log(np.exp(-margins(y, scores)).sum()) / norm,
    "value_at_k": value_at_k,
}
"""The formula of every metric, by the name of the metric."""

DEPTHS = [
    {"k": 1},
    {"k": 2},
    *({name: share} for name in ("fraction", "fraction_of_positives") for share in SHARES),
]
METRIC_PARAMETERS = {
    **dict.fromkeys(("enrichment_factor", "lift", "precision_at_k", "recall_at_k"), DEPTHS),
    "bedroc": [{}, {"alpha": 1.3}],
    "discounted_cumulative_gain": [{}, {"log_base": math.e}],
    "margin": [{"norm": 2.0}],
    "margin_error": [{}, {"theta": 2.0, "p": 2.5}, {"theta": 2.0, "p": math.inf}],
    "ndcg_at_k": [{}, *DEPTHS, {"gain": "exponential"}],
    "net_benefit": [{"threshold": 0.3} | depth for depth in DEPTHS],
    "partial_auc": [{}, {"max_fpr": 0.6, "min_tpr": 0.3}, {"max_fpr": 1.0, "standardize": False}],
    "positives_at_top": [{}, {"normalize": True}],
    "precision_at_recall": [{"recall": share} for share in SHARES],
    "rank_error": [{}, {"price": np.square}, {"price": lambda ranks: -1 / ranks}],
    "recall_at_precision": [{"precision": share} for share in SHARES],
    "rg_error": [{}, {"price": np.log1p}, {"price": np.log1p, "scale": "mean"}, {"scale": "mean"}],
    "rp_error": [{"p": p, "scale": scale} for p in (1, 2.5, 8) for scale in ("raw", "log", "mean")],
    "smooth_margin": [{"norm": 2.0}],
    "value_at_k": [*DEPTHS, {"k": 1, "normalize": True}],
}
"""The parameters with which laws try a metric; those that are not here are tried with their defaults."""


def metric_formula(name):
    """Return the formula of a metric by its name."""
    if name not in METRICS:
        raise LookupError(
            f"tests/oracle.py has no formula for the metric {name!r}: write it out over all pairs or all "
            "orders of tied rows, and enter it in METRICS, with the parameters to try in METRIC_PARAMETERS."
        )
    return METRICS[name]
