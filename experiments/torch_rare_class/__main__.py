"""A small network for a rare class: the top of its list by the loss it was trained on.

    python -m experiments.torch_rare_class --splits 10    # fits, resumed where it was stopped, then tables
    python -m experiments.torch_rare_class --splits 0     # tables of the kept results

Random stratified 70/30 splits, the same for all losses, of sets with rare positives, cut to ``--rows`` rows.
The network has two hidden layers of 32 and starts from the same numbers under every loss; batches have 256
rows, and there are 400 of them. All losses are tuned alike: two learning rates and two values of one more
parameter, over three numbers of steps, by the average precision on a quarter of the training part, and the
network that did best there is measured.

Batches are drawn by class, a quarter positives, but where it says "as they come". Losses of LibAUC, where it
is installed (they need row numbers), take their own optimisers and scores through a sigmoid, as its tutorials
do; all others take Adam.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from experiments.choosing_the_push.__main__ import rows as table_of
from experiments.protocol import TEST_SHARE, append, corrected_error, missing, verdict
from pushrank import metrics
from pushrank.interop.torch import IRPushLoss, PNormPushLoss, PrecisionAtKLoss

RESULTS = Path(__file__).parent / "results.csv"
SETS = ["letter H", "cover_odds"]
MEASURES: dict[str, Callable[[Any, Any], float]] = {
    "precision at n+/4": lambda y, scores: metrics.precision_at_k(y, scores, fraction_of_positives=0.25),
    "positives at top": metrics.positives_at_top,
    "average precision": metrics.average_precision,
}
RATES, STEPS = (1e-2, 3e-2), (100, 200, 400)
BATCH, SHARE = 256, 0.25
BASELINE = "cross-entropy"
AS_THEY_COME, BY_CLASS = "as they come", "by class"
Loss = Callable[[Any, Any, Any], Any]  # of scores, labels and row numbers


def without_rows(loss: Any) -> Loss:
    """Return a loss that has no use for row numbers."""
    return lambda scores, labels, _: loss(scores, labels)


def of_sigmoids(loss: Any) -> Loss:
    """Return a loss of LibAUC."""
    return lambda scores, labels, rows: loss(torch.sigmoid(scores), labels, torch.as_tensor(rows))


def adam(parameters: Any, rate: float) -> Any:
    """Return the optimiser of all losses but LibAUC's."""
    return torch.optim.Adam(parameters, rate)


def ours(loss: Any, name: str, values: tuple[Any, Any]) -> dict[Any, Any]:
    """Return a loss of the library at two values of a parameter."""
    return {f"{name}={v}": (lambda _, v=v: without_rows(loss(v)), adam, BY_CLASS) for v in values}


# by model and value: the loss of the training labels, the optimiser, and how batches are drawn
METHODS: dict[str, dict[str, tuple[Callable[[Any], Loss], Any, str]]] = {
    BASELINE: {
        drawn: (lambda _: without_rows(torch.nn.BCEWithLogitsLoss()), adam, drawn)
        for drawn in (AS_THEY_COME, BY_CLASS)
    },
    "PNormPushLoss": ours(PNormPushLoss, "p", (2, 8)),
    "IRPushLoss": {
        BY_CLASS: (lambda _: without_rows(IRPushLoss()), adam, BY_CLASS),
        f"{AS_THEY_COME}, memory=4096": (
            lambda _: without_rows(IRPushLoss(memory=4096)),
            adam,
            AS_THEY_COME,
        ),
    },
    "PrecisionAtKLoss": ours(PrecisionAtKLoss, "k", (0.25, 1.0)),
}
if find_spec("libauc") is not None:
    from libauc.losses import pAUC_CVaR_Loss, pAUC_DRO_Loss
    from libauc.optimizers import SOPA, SOPAs

    def libauc_step(optimiser: Any) -> Callable[[Any, float], Any]:
        """Return an optimiser of LibAUC by its learning rate, which prints nothing."""
        return lambda parameters, rate: optimiser(parameters, lr=rate, mode="adam", verbose=False)

    METHODS |= {
        "LibAUC, pAUC_DRO_Loss": {
            f"Lambda={value}": (
                lambda y, value=value: of_sigmoids(pAUC_DRO_Loss(data_len=len(y), Lambda=value)),
                libauc_step(SOPAs),
                BY_CLASS,
            )
            for value in (0.1, 1.0)
        },
        "LibAUC, pAUC_CVaR_Loss": {
            f"beta={value}": (
                lambda y, value=value: of_sigmoids(
                    pAUC_CVaR_Loss(data_len=len(y), pos_len=int(y.sum()), beta=value)
                ),
                libauc_step(SOPA),
                BY_CLASS,
            )
            for value in (0.1, 0.5)
        },
    }


def batches(y: np.ndarray, drawn: str, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield the row numbers of batches without end."""
    if drawn == AS_THEY_COME:
        while True:
            order = rng.permutation(len(y))
            yield from order[: len(y) // BATCH * BATCH].reshape(-1, BATCH)
    n_positive = round(SHARE * BATCH)
    classes = [(np.flatnonzero(y == 1), n_positive), (np.flatnonzero(y == 0), BATCH - n_positive)]
    while True:
        yield np.concatenate([rng.choice(rows, n, replace=n > len(rows)) for rows, n in classes])


def staged_scores(
    parts: list[Any], y: np.ndarray, make_loss: Callable[[Any], Loss], optimiser: Any, drawn: str, rate: float
) -> Iterator[list[np.ndarray]]:
    """Yield the scores of the other parts after each number of steps on the first."""
    torch.manual_seed(0)
    train, *others = (torch.as_tensor(part, dtype=torch.float32) for part in parts)
    widths = (train.shape[1], 32, 32, 1)
    layers = [
        layer
        for wide, narrow in pairwise(widths)
        for layer in (torch.nn.Linear(wide, narrow), torch.nn.ReLU())
    ]
    network = torch.nn.Sequential(*layers[:-1])
    loss, step = make_loss(y), optimiser(network.parameters(), rate)
    labels = torch.as_tensor(y, dtype=torch.float32)[:, None]
    for number, rows in enumerate(batches(y, drawn, np.random.default_rng(0)), 1):
        step.zero_grad()
        loss(network(train[rows]), labels[rows], rows).backward()
        step.step()
        if number in STEPS:
            with torch.no_grad():
                yield [network(part).ravel().double().numpy() for part in others]
        if number == STEPS[-1]:
            return


def fit_all(splits: int, most_rows: int) -> None:
    """Fit and measure what the kept results lack, one line for each model and split."""
    torch.set_num_threads(1)
    for split, name in missing(RESULTS, SETS, splits):
        X, y = table_of(name, most_rows)
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, test_size=TEST_SHARE, stratify=y, random_state=split
        )
        X_fit, X_held, y_fit, y_held = train_test_split(
            X_train, y_train, test_size=0.25, stratify=y_train, random_state=split
        )
        scaler = StandardScaler().fit(X_fit)
        parts = [scaler.transform(part) for part in (X_fit, X_held, X_test)]
        lines = []
        for model, of_values in METHODS.items():
            best, start = (-1.0, "", np.empty(0)), time.process_time()
            for (value, settings), rate in product(of_values.items(), RATES):
                found = zip(STEPS, staged_scores(parts, y_fit, *settings, rate), strict=True)
                for steps, (held, test) in found:
                    precision = metrics.average_precision(y_held, held) if np.isfinite(held).all() else 0.0
                    best = max(
                        best, (precision, f"{value}, rate={rate:g}, {steps} steps", test), key=lambda b: b[0]
                    )
            seconds = time.process_time() - start
            measured = {measure: of(y_test, best[2]) for measure, of in MEASURES.items()}
            line = {"set": name, "split": split, "rows": len(y), "positives": int(y.sum()), "model": model}
            lines.append({**line, **measured, "seconds": seconds, "chosen": best[1]})
        append(RESULTS, lines)
        print(split, name, flush=True)


def report() -> None:
    """Print means and corrected standard errors, and who differs from the cross-entropy beyond chance."""
    kept = pd.read_csv(RESULTS)
    for measure in MEASURES:
        table = kept.pivot_table(index=["set", "split"], columns="model", values=measure)
        print(f"{measure}: mean (standard error), paired difference to the {BASELINE} (standard error)")
        for model in kept["model"].unique():
            cells = []
            for name in SETS:
                of_set, of_baseline = (table.loc[name, one].to_numpy() for one in (model, BASELINE))
                less = of_set - of_baseline
                cells.append(f"{of_set.mean():8.3g} ({corrected_error(of_set):.2g})")
                if model != BASELINE:
                    cells[-1] += f" {less.mean():+.3g} ({corrected_error(less):.2g}) {verdict(less)}"
            print(f"  {model:24s}" + "".join(f"{cell:38s}" for cell in cells).rstrip())
        print(" " * 28 + "".join(f"{name:38s}" for name in SETS).rstrip() + "\n")
    print("processor seconds of a tuning, mean")
    print(kept.groupby("model", sort=False)["seconds"].mean().round(1).to_string(header=False))
    counts = kept.groupby("set", sort=False)[["split", "rows", "positives"]]
    print("\n" + counts.agg({"split": "nunique", "rows": "max", "positives": "max"}).to_string())


def main() -> None:
    """Fit what is missing, and report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--rows", type=int, default=10_000)
    arguments = parser.parse_args()
    fit_all(arguments.splits, arguments.rows)
    report()


if __name__ == "__main__":
    main()
