"""What the experiments share: random splits, choice by cross-validation, tables with standard errors, and
printed numbers beside measured ones."""

from __future__ import annotations

import argparse
import platform
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
import pandas as pd
import sklearn
from lightgbm import LGBMClassifier
from scipy.stats import t as student
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, train_test_split

from pushrank import PushObjective, metrics
from pushrank.benchmark import protocol as benchmark
from pushrank.interop.lightgbm import LGBMObjective
from pushrank.prices import Power

FOLDS = 5
MAX_DEVIATIONS = 2.0
TEST_SHARE = 0.3  # of the experiments that resume
QUICK = (
    "--quick shows that all steps run. Two repeats, of a part of the rows, are no test of the figures: "
    "what agrees with a paper is not counted."
)
VERDICTS = ("above", "even", "below")
MEASURES: dict[str, Callable[..., float]] = {
    "positives at top": metrics.positives_at_top,
    "share at top": lambda y, scores: metrics.positives_at_top(y, scores, normalize=True),
    "AP": metrics.average_precision,
    "AUC": metrics.auc,
    "DCG": metrics.discounted_cumulative_gain,
}


class PushedLightGBM(ClassifierMixin, BaseEstimator):
    """LightGBM's trees under the P-Norm Push."""

    def __init__(self, p: float = 4.0, seed: int = 0) -> None:
        self.p, self.seed = p, seed

    def fit(self, X: Any, y: Any) -> PushedLightGBM:
        """Grow the trees."""
        push = LGBMObjective(PushObjective(price=Power(self.p), scale="log"))
        self.trees_ = LGBMClassifier(objective=push, n_jobs=1, random_state=self.seed, verbose=-1).fit(X, y)
        self.classes_ = self.trees_.classes_
        return self

    def decision_function(self, X: Any) -> Any:
        """Return the scores."""
        return self.trees_.decision_function(X)


class Method(NamedTuple):
    """A model with one parameter to choose.

    Attributes
    ----------
    name : str
        What the tables call it.
    model : estimator
        With its other parameters.
    parameter : str
        The parameter's name.
    grid : sequence of float
        Its values, from the strongest regularisation to the weakest.
    """

    name: str
    model: Any
    parameter: str
    grid: Sequence[float]

    def fits(self, X: Any, y: Any, values: Sequence[float]) -> list[Any]:
        """Return a fitted model for each value; a certified ranker goes along its path."""
        if hasattr(self.model, "path"):
            return list(self.model.path(X, y, values))
        return [clone(self.model).set_params(**{self.parameter: value}).fit(X, y) for value in values]


def cut_rows(load: Callable[[], tuple[Any, Any]], most: int) -> tuple[Any, np.ndarray]:
    """Return a set cut to so many rows; of rare positives 200 are kept, or all."""
    return benchmark.cut_rows(*load(), most)


def molecules(smiles: Iterable[str]) -> list[Any]:
    """Return molecules of rdkit."""
    from rdkit import Chem

    found = []
    for text in np.ravel(smiles):
        molecule = Chem.MolFromSmiles(text, sanitize=False)
        molecule.UpdatePropertyCache(strict=False)  # a few atoms of DUD and Tox21 have a bond too many
        Chem.SanitizeMol(molecule, Chem.SANITIZE_ALL ^ Chem.SANITIZE_PROPERTIES)
        found.append(molecule)
    return found


def fingerprints(of: Iterable[Any], n_bits: int) -> np.ndarray:
    """Return the Morgan fingerprints of radius 2 of molecules."""
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    generator = GetMorganGenerator(radius=2, fpSize=n_bits)
    return np.array([generator.GetFingerprintAsNumPy(molecule) for molecule in of], dtype=float)


def missing(results: Path, sets: Sequence[str], splits: int) -> Iterator[tuple[int, str]]:
    """Yield the splits and sets that kept results lack; all sets get their first split before a second."""
    kept = pd.read_csv(results) if results.exists() else pd.DataFrame(columns=["set", "split"])
    done = set(zip(kept["set"], kept["split"], strict=True))
    for split in range(splits):
        yield from ((split, name) for name in sets if (name, split) not in done)


def append(results: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    """Add lines to kept results."""
    table = pd.DataFrame(lines)
    table.to_csv(results, mode="a", header=not results.exists(), index=False, float_format="%.6g")


def corrected_error(values: np.ndarray) -> float:
    """Return the standard error of a mean over random splits that share rows, NaN of a single one.

    Nadeau and Bengio, *Inference for the generalization error*, Machine Learning 52 (2003): the variance
    grows by the ratio of test to training rows, 3/7, on top of 1/splits.
    """
    if len(values) == 1:
        return np.nan
    inflated = 1.0 / len(values) + TEST_SHARE / (1.0 - TEST_SHARE)
    return float(np.sqrt(inflated * np.var(values, ddof=1)))


def verdict(differences: np.ndarray) -> str:
    """Return whether differences are significantly (5 %, two-sided) above zero, below, or neither."""
    mean, n_splits = differences.mean(), len(differences)
    if n_splits == 1 or mean == 0.0:
        return "even"
    if abs(mean) <= student.ppf(0.975, n_splits - 1) * corrected_error(differences):
        return "even"
    return "above" if mean > 0.0 else "below"


def tally(found: Iterable[tuple[str, str]]) -> str:
    """Return how many verdicts are above, even and below, and the names of those that are not even."""
    names = {kind: [name for of, name in found if of == kind] for kind in VERDICTS}
    named = (f"{kind} on {', '.join(names[kind])}" for kind in ("above", "below") if names[kind])
    return " / ".join(f"{len(names[kind]):2d}" for kind in VERDICTS) + "   " + "; ".join(named)


def decision_scores(model: Any, X: Any) -> np.ndarray:
    """Return the scores of rows before any link: a sigmoid in single precision ties the highest."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    margin = "output_margin" if type(model).__name__.startswith("XGB") else "raw_score"
    return model.predict(X, **{margin: True})


def chosen(
    method: Method, X: Any, y: Any, scaler: Any, folds: StratifiedKFold, criteria: Sequence[str]
) -> list[float]:
    """Return the value with the best mean over the folds, the first of equals, by each criterion."""
    means = np.zeros((len(criteria), len(method.grid)))
    for train, test in folds.split(X, y):
        fitted = clone(scaler).fit(X[train])
        models = method.fits(fitted.transform(X[train]), y[train], method.grid)
        scores = [decision_scores(model, fitted.transform(X[test])) for model in models]
        means += [[MEASURES[name](y[test], s) / folds.n_splits for s in scores] for name in criteria]
    return [method.grid[best] for best in means.argmax(axis=1)]


def one_split(
    X: Any, y: Any, methods: Iterable[Method], scaler: Any, criteria: Sequence[str], number: int
) -> list[dict[str, Any]]:
    """Return the measures of all methods on the test third of one random split."""
    train, test = train_test_split(np.arange(len(y)), train_size=2 / 3, stratify=y, random_state=number)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=number)
    fitted = clone(scaler).fit(X[train])
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # what is kept shows the final fits' gaps
        for method in methods:
            values = chosen(method, X[train], y[train], scaler, folds, criteria)
            for criterion, value in zip(criteria, values, strict=True):
                (model,) = method.fits(fitted.transform(X[train]), y[train], [value])
                scores = model.decision_function(fitted.transform(X[test]))
                row = {"split": number, "chosen by": criterion, "method": method.name, "chosen": value}
                row |= {name: measure(y[test], scores) for name, measure in MEASURES.items()}
                rows.append({**row, "gap": getattr(model, "dual_gap_", np.nan)})
    return rows


def all_splits(
    X: Any,
    y: Any,
    methods: Sequence[Method],
    scaler: Any,
    criteria: Sequence[str],
    n_splits: int,
    n_jobs: int,
) -> pd.DataFrame:
    """Return the rows of all splits, whose numbers are their seeds."""
    work = (joblib.delayed(one_split)(X, y, methods, scaler, criteria, number) for number in range(n_splits))
    rows = [row for rows in joblib.Parallel(n_jobs=n_jobs)(work) for row in rows]
    return pd.DataFrame(rows)


def table(rows: pd.DataFrame, columns: Sequence[str], reference: str) -> str:
    """Return the means and standard errors as text, and the paired differences to one method."""
    by_split = rows.pivot_table(index="split", columns="method", values=list(columns))
    order = list(dict.fromkeys(rows["method"]))
    values = rows.groupby("method")["chosen"].median()
    lines = [" " * 28 + "".join(f"{name:>20s}" for name in columns) + f"{'median chosen':>16s}"]
    for method in order:
        cells = "".join(_mean_and_error(by_split[name][method]) for name in columns)
        lines.append(f"{method:28s}{cells}{values[method]:16.3g}")
    lines.append(f"less {reference}, paired")
    for method in order:
        if method != reference:
            differences = (by_split[name][method] - by_split[name][reference] for name in columns)
            lines.append(f"{method:28s}" + "".join(map(_mean_and_error, differences)))
    return "\n".join(lines)


def arguments(description: str | None, folder: Path, n_repeats: int) -> argparse.Namespace:
    """Return ``quick``, ``repeats``, ``jobs`` and the ``folder`` to write to, from the command line."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, help=f"{n_repeats} by default, 2 with --quick")
    parser.add_argument("--quick", action="store_true", help="all steps in seconds, into a temporary folder")
    parser.add_argument("--folder", type=Path, help="where to write; by default beside the experiment")
    parser.add_argument("--jobs", type=int, default=1, help="processes, where trials can be fitted apart")
    found = parser.parse_args()
    if found.quick:
        print(QUICK)
    found.repeats = found.repeats or (2 if found.quick else n_repeats)
    found.folder = found.folder or (Path(tempfile.mkdtemp()) if found.quick else folder)
    return found


def against_printed(measured: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Return printed numbers beside the mean and the standard deviation of one repeat.

    Parameters
    ----------
    measured : DataFrame
        A ``value`` for every repeat, and the columns that tell one printed number from another.
    printed : DataFrame
        Those columns, and ``printed``.

    Returns
    -------
    DataFrame
        ``printed`` and ``mean``, ``sd``, ``deviations`` from the mean in units of the standard deviation,
        and whether they are ``within`` two.
    """
    by = [column for column in printed.columns if column != "printed"]
    found = measured.groupby(by, sort=False)["value"].agg(mean="mean", sd="std")
    rows = printed.join(found, on=by)
    rows["deviations"] = (rows["printed"] - rows["mean"]) / rows["sd"]
    rows["within"] = rows["deviations"].abs() <= MAX_DEVIATIONS
    return rows


def comparison(rows: pd.DataFrame, lines: str, columns: str) -> str:
    """Return what `against_printed` found as text: printed, mean and sd of one repeat, one above another."""
    names = list(dict.fromkeys(rows[columns]))
    width = 2 + max(8, *rows[lines].str.len())
    text = [" " * (width + 8) + "".join(f"{name:>11s}" for name in names)]
    for line, of_line in rows.groupby(lines, sort=False):
        cells = of_line.set_index(columns)
        for kind, n_digits in (("printed", 6), ("mean", 5), ("sd", 3)):
            digits = "".join(f"{cells[kind][name]:11.{n_digits}g}" for name in names)
            text.append(f"{line if kind == 'printed' else '':{width}s}{kind:8s}{digits}")
    return "\n".join(text)


def keep(folder: Path, name: str, rows: pd.DataFrame) -> None:
    """Write every split's figures beside the experiment."""
    rows.to_csv(folder / f"{name}.csv", index=False, float_format="%.6g")


def versions() -> str:
    """Return what the figures were made with."""
    return f"Python {platform.python_version()}, numpy {np.__version__}, scikit-learn {sklearn.__version__}"


def _mean_and_error(values: pd.Series) -> str:
    """Return the mean and its standard error in a cell."""
    digits = 3 if values.abs().max() <= 1.0 else 2
    return f"{values.mean():12.{digits}f} ±{values.sem():6.{digits}f}"
