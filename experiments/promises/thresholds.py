"""Lists with a guaranteed precision by pushrank and by MAPIE's Learn Then Test, on the same rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np

from experiments.promises.populations import Population
from pushrank import metrics

try:
    from mapie.risk_control import BinaryClassificationController
except ImportError:
    BinaryClassificationController = None

NAMES = ("binormal", "sharp top", "magic04", "flights", "give_me_credit", "abalone9-18")
METHODS = ("bonferroni_holm", "fixed_sequence")


def mapie_threshold(y: np.ndarray, chances: np.ndarray, precision: float, method: str) -> float:
    """Return MAPIE's best threshold for a precision at 95 %, NaN if it finds none."""
    grid = np.linspace(0.0, 0.99, 100)
    # Above the highest score the precision is not a number, with which it finds no threshold at all.
    grid = grid[grid < chances.max()]
    if method == "fixed_sequence":
        # A sequence begins where the precision is likely to suffice.
        grid = grid[::-1]
    controller = BinaryClassificationController(
        lambda X: np.column_stack([1.0 - X[:, 0], X[:, 0]]),
        "precision",
        precision,
        confidence_level=0.95,
        list_predict_params=grid,
        fwer_method=method,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        controller.calibrate(chances[:, None], y.astype(int))
    best = controller.best_predict_param
    return np.nan if best is None else float(best)


def thresholds_beside(found: Iterable[Population], n_draws: int) -> None:
    """Print for each way how often there is a list, its length, and how often its precision falls short."""
    ways = ("pushrank", *(METHODS if BinaryClassificationController else ()))
    print(f"Lists with a precision at 95 % on the same rows, {n_draws} draws; scores are ranks of all rows")
    print("lists: % of draws with one; length: mean share of all rows in %, 0 where there is none;")
    print("short: % of draws with a list whose precision falls short")
    head = "".join(f"{way:>16s}: lists  length  short" for way in ways)
    print(f"{'population':18s}{'positives':>10s}{'precision':>10s}{head}")
    for population in found:
        if population.name not in NAMES:
            continue
        # MAPIE reads thresholds from a grid from 0 to 1, half of which then lies in the first 6 % of rows.
        order = np.argsort(np.argsort(population.scores, kind="stable"), kind="stable")
        chances = 1.0 - (1.0 - (order + 0.5) / len(order)) ** 0.25
        ranked = Population(population.name, chances, population.is_positive)
        depth = len(order) // 20
        precision = 0.7 * population.is_positive[np.argsort(-order)[:depth]].mean()
        for count in (30, 100, 300):
            n = round(count / population.is_positive.mean())
            rng = np.random.default_rng(count)
            kept = np.zeros((n_draws, len(ways), 3))
            for draw in range(n_draws):
                y, scores = ranked.draw(rng, n)
                try:
                    least = [
                        metrics.threshold_for(y, scores, metrics.Guaranteed(precision=precision)).threshold
                    ]
                except ValueError:
                    least = [np.nan]
                least += [mapie_threshold(y, scores, precision, method) for method in ways[1:]]
                for way, threshold in enumerate(least):
                    if not np.isnan(threshold):
                        in_list = ranked.scores >= threshold
                        true = ranked.is_positive[in_list].mean() if in_list.any() else 1.0
                        kept[draw, way] = 1.0, in_list.mean(), true < precision
            cells = "".join(
                f"{'':16s}{lists:7.1f}{length:8.2f}{short:7.1f}"
                for lists, length, short in 100.0 * kept.mean(axis=0)
            )
            print(f"{population.name:18s}{count:10d}{precision:10.2f}{cells}", flush=True)
    print()
