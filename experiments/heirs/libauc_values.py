"""The partial AUC losses of LibAUC, where it is installed, beside ours at the same scores of the same rows.

    PUSHRANK_DATA=... python -m experiments.heirs.libauc_values

Scores are those of a logistic regression of half of a set, through a sigmoid as LibAUC has them, at the other
half. LibAUC's losses keep a number for every positive, which it moves by a step a batch: printed is the value
with these numbers as they start, after some full batches, and at their optimum.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from libauc.losses.auc import pAUC_CVaR_Loss, pAUC_DRO_Loss
from scipy.special import expit, logsumexp
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from experiments.heirs.largest_share import LargestShare
from pushrank.datasets import load_dataset
from pushrank.objectives import PushObjective

SHARE, LAMBDA, BATCHES = 0.05, 0.1, (0, 10, 100)
N_ROWS = 4000
SETS = {"spambase": {}, "letter": {"positive": "H"}}


def squared_hinges(y: Any, scores: Any) -> Any:
    """Return the squared hinges of all pairs, a row for each positive."""
    return np.maximum(0.0, 1.0 - (scores[y == 1][:, None] - scores[y == 0][None])) ** 2


def of_libauc(loss: Any, y: Any, scores: Any) -> tuple[float, Any]:
    """Return LibAUC's value and gradient at a full batch, whose numbers it then moves."""
    s = torch.tensor(scores, dtype=torch.float64, requires_grad=True)
    rows = torch.arange(int(y.sum()))
    value = loss(s, torch.tensor(y), rows)
    value.backward()
    return float(value.detach()), s.grad.numpy()


def lines_of(name: str) -> list[str]:
    """Return the lines of a set."""
    X, y = load_dataset(name, return_X_y=True, **SETS[name])
    y = np.asarray(y).astype(int)
    order = np.random.default_rng(0).permutation(len(y))[:N_ROWS]
    X, y = X[order], y[order]
    half = np.arange(len(y)) % 2 == 0
    scaler = StandardScaler().fit(X[half])
    model = LogisticRegression(max_iter=1000).fit(scaler.transform(X[half]), y[half])
    y, scores = y[~half], expit(model.decision_function(scaler.transform(X[~half])))
    # LibAUC's share of the negatives is a whole number of rows here.
    n = int((y == 0).sum())
    kept = np.flatnonzero(y == 0)[: n - n % 20].tolist() + np.flatnonzero(y == 1).tolist()
    y, scores = y[kept], scores[kept]
    n, m = int((y == 0).sum()), int(y.sum())
    objective = PushObjective("squared_hinge", LargestShare(SHARE), scale="mean")
    objective.evaluate(y, scores)  # compiles
    started = time.perf_counter()
    value, gradient = objective.evaluate(y, scores)
    ours = time.perf_counter() - started
    pairs = squared_hinges(y, scores)
    lines = [f"{name}: {m} positives, {n} negatives", f"  PushObjective                    {value:.6f}"]
    for batches in BATCHES:
        loss = pAUC_CVaR_Loss(m, m, beta=SHARE, device="cpu")
        loss.u_pos = loss.u_pos.double()
        for _ in range(batches):
            of_libauc(loss, y, scores)
        found, _ = of_libauc(loss, y, scores)
        lines.append(f"  LibAUC, after {batches:4d} batches        {found:.6f}")
    order = -np.sort(-pairs, axis=1)
    count = round(SHARE * n)
    loss.u_pos = torch.tensor(0.5 * (order[:, count - 1] + order[:, count]))[:, None]
    started = time.perf_counter()
    found, slopes = of_libauc(loss, y, scores)
    theirs = time.perf_counter() - started
    apart = np.abs(slopes - gradient).max() / np.abs(gradient).max()
    lines.append(
        f"  LibAUC at its optimal numbers    {found:.6f}; gradients differ by {apart:.1e} of the largest"
    )
    lines.append(f"  milliseconds, value and gradient: ours {1e3 * ours:.1f}, LibAUC {1e3 * theirs:.1f}")
    of_positives = LAMBDA * (logsumexp(pairs / LAMBDA, axis=1) - np.log(n))
    shared = LAMBDA * (logsumexp(pairs.mean(axis=0) / LAMBDA) - np.log(n))
    weights = np.where(y == 1, 1.0 / (LAMBDA * m), 1.0)
    soft = PushObjective("squared_hinge", "exponential_price", scale="log").value(y, scores, weights)
    dro = pAUC_DRO_Loss(m, gamma=1.0, Lambda=LAMBDA, device="cpu")
    dro.u_pos = dro.u_pos.double()
    of_libauc(dro, y, scores)
    lines.append(
        f"  by KL, lambda {LAMBDA}: of each positive {of_positives.mean():.6f}; one distribution for all "
        f"{shared:.6f}, by ExponentialPrice {LAMBDA * (soft - np.log(n)):.6f}"
    )
    return lines


def main() -> None:
    """Print the values of every set, and keep them."""
    lines = []
    for name in SETS:
        lines += lines_of(name)
        print("\n".join(lines[-8:]), flush=True)
    Path(__file__).with_name("libauc_values.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
