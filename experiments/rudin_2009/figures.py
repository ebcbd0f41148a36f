"""Figures 1 and 3 to 8 of Rudin, The P-Norm Push, JMLR 10 (2009)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from sklearn.metrics import roc_curve

from experiments.rudin_2009.printed import LIST_3_3
from pushrank import PushObjective
from pushrank.plots import ConcentrationDisplay
from pushrank.prices import Power

mpl.use("Agg")
from matplotlib import pyplot as plt

ROOT_P, ROOT_A = 4, 0.4  # figure 8
STYLES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 3)))


def constructed(folder: Path) -> None:
    """Draw the figures that take no data: 1, 3, 4 and 8."""
    pushes = {f"p = {p}": PushObjective(price=Power(p)) for p in (1, 2, 4, 6, 8)}
    _concentrations(folder / "figure_1.png", pushes)
    _concentrations(
        folder / "figure_4.png", {"IR Push": PushObjective(price="log_one_plus", side="pull", scale="mean")}
    )
    z = np.linspace(1.0, 20.0, 200)
    curves = {"1 / ln(1 + z)": 1 / np.log1p(z), "1 / z": 1 / z, "-ln(1 + z)": -np.log1p(z)}
    _lines(folder / "figure_3.png", z, curves, "z", "discount")
    b = np.linspace(0.0, 1.0, 501)
    _lines(folder / "figure_8.png", b, roots(b), "b", f"p = {ROOT_P}, a = {ROOT_A}")


def roots(b: Any) -> dict[str, Any]:
    """Return the curves of figure 8, from the lowest to the highest."""
    p, a = ROOT_P, ROOT_A
    highest = np.abs(a - b) ** (1 / p)
    return {
        "|a^(1/p) - b^(1/p)|": np.abs(a ** (1 / p) - b ** (1 / p)),
        "min(|a - b| a^(1/p - 1), |a - b|^(1/p))": np.minimum(np.abs(a - b) * a ** (1 / p - 1), highest),
        "|a - b|^(1/p)": highest,
    }


def roc_in_counts(path: Path, y: Any, train: Any, test: Any, scores: Mapping[str, Any]) -> None:
    """Draw figure 5, 6 or 7: true positives against false positives, whole and enlarged at the left."""
    figure, axes = plt.subplots(2, 2, figsize=(10, 7.6), layout="constrained")
    for row, (part, rows) in zip(axes, {"training": train, "test": test}.items(), strict=True):
        labels = y[rows]
        for (name, of_all), style in zip(scores.items(), STYLES, strict=True):
            fpr, tpr, _ = roc_curve(labels, of_all[rows], drop_intermediate=False)
            for ax in row:
                ax.plot(
                    fpr * (len(labels) - labels.sum()), tpr * labels.sum(),
                    linestyle=style, linewidth=1.2, label=name,
                )  # fmt: skip
        row[0].set_title(part)
        row[1].set(title=f"{part}, enlarged", **_left_edge(row[0]))
        for ax in row:
            ax.set(xlabel="false positives", ylabel="true positives")
    axes[0, 0].legend(fontsize="small")
    _save(figure, path)


def _left_edge(ax: Any) -> dict[str, tuple[float, float]]:
    """Return the limits of the first tenth of the false positives, and of what the curves reach there."""
    most = 0.1 * max(line.get_xdata()[-1] for line in ax.get_lines())
    reached = max(np.interp(most, line.get_xdata(), line.get_ydata()) for line in ax.get_lines())
    return {"xlim": (-0.02 * most, most), "ylim": (0.0, 1.05 * float(reached))}


def _concentrations(path: Path, objectives: Mapping[str, PushObjective]) -> None:
    y, scores = [mark == "+" for mark in LIST_3_3], np.arange(20, 0, -1) / 20
    figure, axes = plt.subplots(
        1, len(objectives), figsize=(2.6 * len(objectives), 3.6), squeeze=False, layout="constrained"
    )
    for ax, (name, objective) in zip(axes[0], objectives.items(), strict=True):
        display = ConcentrationDisplay.compute(y, scores, objective=objective)
        ax.imshow(display.shares, cmap="gray", origin="lower")
        ax.set(title=name, xlabel="negatives, best left", xticks=[], yticks=[])
    axes[0, 0].set_ylabel("positives, best below")
    _save(figure, path)


def _lines(path: Path, x: Any, curves: Mapping[str, Any], xlabel: str, ylabel: str) -> None:
    figure, ax = plt.subplots(figsize=(5.6, 3.8), layout="constrained")
    for (name, values), style in zip(curves.items(), STYLES, strict=False):
        ax.plot(x, values, linestyle=style, label=name)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.legend(fontsize="small")
    _save(figure, path)


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, dpi=70)
    plt.close(figure)
