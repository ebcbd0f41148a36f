"""What do pushes gain on a device, by torch tensors and by XGBoost's trees?

    SCIPY_ARRAY_API=1 python benchmarks/on_a_gpu.py --rows 100000000 > benchmarks/on_a_gpu.txt

This needs torch, XGBoost and a device that both support (``--device cpu`` tries the script out). Rows of
float32, some 5 % of them positive, are drawn on the device; the processor gets a part of them, on which the
coefficients are compared. Seconds are those of the second of two fits.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
import torch

from pushrank import IRPush, PNormPush, PushObjective, PushRanker
from pushrank.interop.xgboost import PushXGBRanker
from pushrank.prices import Power

COMPARED = 1_000_000  # rows that the processor gets, too


def table(n: int, d: int, device: str) -> tuple[Any, Any]:
    """Return features and labels, drawn on the device."""
    generator = torch.Generator(device).manual_seed(0)
    X = torch.randn(n, d, generator=generator, device=device)
    noise = torch.randn(n, generator=generator, device=device)
    scores = X @ torch.linspace(1.0, -1.0, d, device=device) / d**0.5 + noise
    return X, (scores > 1.9).to(torch.int64)


def seconds(function: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Return the time of the second of two calls, and what it returns."""
    function(*arguments)
    start = time.perf_counter()
    found = function(*arguments)
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - start, found


def main() -> None:
    """Print a line for each fit."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    device = options.device
    sklearn.set_config(array_api_dispatch=True)
    named = torch.cuda.get_device_name() if device.startswith("cuda") else "the processor"
    print(f"{named}, torch {torch.__version__}; rows of {options.columns} float32\n")
    X, y = table(options.rows, options.columns, device)
    few = slice(min(COMPARED, options.rows))
    X_few, y_few = X[few], y[few]
    X_here, y_here = X_few.cpu().numpy(), y_few.cpu().numpy()

    print(f"{'what':<52} {'rows':>12} {'seconds':>9} {'iterations':>10} {'largest difference':>19}")
    rankers = (PNormPush(p=4), PNormPush(p=16), IRPush(), PushRanker("logistic", Power(4)))
    for ranker in rankers:
        taken, fitted = seconds(ranker.fit, X_here, y_here)
        expected = fitted.coef_.copy()
        print(f"{f'{ranker}, NumPy':<52} {len(y_here):>12,} {taken:>9.2f} {fitted.n_iter_:>10}")
        taken, fitted = seconds(ranker.fit, X_few, y_few)
        error = np.abs(fitted.coef_.cpu().numpy() - expected).max() / np.abs(expected).max()
        print(f"{f'{ranker}, torch':<52} {len(y_few):>12,} {taken:>9.2f} {fitted.n_iter_:>10} {error:>19.1e}")
        if options.rows > COMPARED:
            taken, fitted = seconds(ranker.fit, X, y)
            print(f"{f'{ranker}, torch':<52} {options.rows:>12,} {taken:>9.2f} {fitted.n_iter_:>10}")
    scores = X @ torch.ones(options.columns, device=device)
    for loss in ("exponential", "logistic", "squared_hinge"):
        objective = PushObjective(loss, Power(4.0), scale="log")
        taken, _ = seconds(objective.evaluate, y, scores)
        print(f"{f'value and gradient, {loss}, torch':<52} {options.rows:>12,} {taken:>9.2f}")
    if device.startswith("cuda"):
        print(f"memory at most: {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")
    for kind in dict.fromkeys(("cpu", device)):
        ranker = PushXGBRanker(p=4, n_estimators=options.rounds, device=kind)
        taken, fitted = seconds(ranker.fit, X_here, y_here)
        precision = fitted.score(X_here, y_here)
        said = f"PushXGBRanker(device={kind!r})"
        print(f"{said:<52} {len(y_here):>12,} {taken:>9.2f} {options.rounds:>10}   AP {precision:.4f}")


if __name__ == "__main__":
    main()
