"""The data of section 6 of Agarwal (SDM 2011), its rankers, and one random trial of them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.preprocessing import minmax_scale
from threadpoolctl import threadpool_limits

from experiments.agarwal_2011 import printed
from experiments.agarwal_2011.readings import CONSTANT, ROUNDS, STOPPED, Figure2, Reading, one
from experiments.protocol import FOLDS
from pushrank import SVMMAP, InfinitePush, PushBoost, RankSVM, metrics
from pushrank.datasets import load_dataset
from pushrank.weak_rankers import Columns

C = (0.1, 1.0, 10.0, 100.0, 1000.0)
ETA0 = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
T_MAX = 1000
MEASURES: dict[str, Callable[..., float]] = {
    "AUC": metrics.auc,
    "top": partial(metrics.positives_at_top, ties="half"),
    "AP": metrics.average_precision,
    "DCG": partial(metrics.discounted_cumulative_gain, ties="min"),
}
P = (1, 4, 16, 64)
PUSHES = [f"P-Norm Push p={p}" for p in P]
PRINTED_ALGORITHMS = ("RankSVM", "Infinite Push")
EXACT, SAME_C, START = ", exact", ", exact, same C", "difference of means"
TARGETS = ("cox2", "fxa", "egfr", "ache", "er_agonist")
N_ACTIVES, N_DECOYS = 50, 1892
BITS = 1021


Models = dict[str, tuple[Any, dict[str, Any]]]  # by name, with the values to choose from


class Table(NamedTuple):
    """A printed table, how its rows are had, and the share of them to train on."""

    numbers: str
    data: Callable[[str], tuple[Any, Any]]
    share: float
    targets: tuple[str, ...] = ("-",)


def ionosphere(_: str) -> tuple[Any, Any]:
    """Return the 33 features that are not constant."""
    X, y = load_dataset("ionosphere", return_X_y=True)
    return minmax_scale(X[:, np.ptp(X, axis=0) > 0]), y


def spambase(_: str) -> tuple[Any, Any]:
    """Return all features."""
    X, y = load_dataset("spambase", return_X_y=True)
    return minmax_scale(X), y


@cache
def fingerprints() -> tuple[Any, Any]:
    """Return the bits of 50 actives of each target and of 1,892 decoys, and the names of their targets."""
    from rdkit.Chem import MolFromSmiles
    from rdkit.Chem.rdFingerprintGenerator import GetRDKitFPGenerator

    # linear fragments of up to seven atoms, a bit for each, as OpenBabel's FP2 has them
    generator = GetRDKitFPGenerator(
        minPath=1, maxPath=6, useHs=False, branchedPaths=False, fpSize=BITS, numBitsPerFeature=1
    )
    random = np.random.default_rng(0)
    bits, names = [], []
    decoys, active = load_dataset("chembl", return_X_y=True)
    groups = [("decoy", decoys[active == 0], N_DECOYS)]
    for target in TARGETS:
        molecules, active = load_dataset("dud", target=target, return_X_y=True)
        groups.append((target, molecules[active == 1], N_ACTIVES))
    for name, smiles, n_drawn in groups:
        drawn = random.choice(smiles, n_drawn, replace=False)
        # DUD's amidinium groups have their charge, and a fifth bond, at the carbon
        read = (MolFromSmiles(text.replace("[CH+]", "C")) for text in drawn)
        bits += [generator.GetFingerprintAsNumPy(molecule) for molecule in read]
        names += [name] * n_drawn
    return np.array(bits, dtype=np.float64), np.array(names)


def molecules(target: str) -> tuple[Any, Any]:
    """Return the bits, and who is active on a target: those of the other targets are not."""
    X, names = fingerprints()
    return X, (names == target).astype(int)


TABLES = {
    "2 ionosphere": Table(printed.TABLE_2, ionosphere, 2 / 3),
    "3 spambase": Table(printed.TABLE_3, spambase, 0.05),
    "4 molecules": Table(printed.TABLE_4, molecules, 0.1, TARGETS),
}


def rankers(quick: bool) -> Models:
    """Return the rankers of section 6 and the exact ones."""
    t_max, rounds = (20, 5) if quick else (T_MAX, ROUNDS)
    costs, steps = (C[1::2], ETA0[1::2]) if quick else (C, ETA0)
    printed_way = {"solver": "gradient-projection", "eta0": 1e-12, "max_iter": t_max}
    infinite = InfinitePush(**printed_way)
    boosted = {"weak_rankers": "columns", "n_estimators": rounds, "alpha": 0.0, "tol": 1e-12}
    return {
        "RankSVM": (RankSVM(loss="hinge", **printed_way), {"C": costs, "eta0": steps}),
        "SVMMAP": (SVMMAP(), {"C": costs}),
        **{name: (PushBoost(p, **boosted), {}) for name, p in zip(PUSHES, P, strict=True)},
        "Infinite Push": (infinite, {"C": costs, "eta0": steps}),
        "RankSVM" + EXACT: (RankSVM(loss="hinge"), {"C": costs}),
        "Infinite Push" + EXACT: (InfinitePush(), {"C": costs}),
        START: (clone(infinite).set_params(max_iter=1), {}),
    }


def by_figure_2(reading: Reading) -> Callable[[Any], Any]:
    """Return what replaces a ranker by figure 2 in a reading, in as many rounds."""
    return lambda push: Figure2(push.p, reading._replace(rounds=push.n_estimators))


AS_SCALED = Columns(units="none")  # over all rows
WAYS: dict[str, Callable[[Any], Any]] = {
    ", steps at most ln(1 + IK) / (p + 1)": by_figure_2(Reading(capped=True)),
    ", signed choice": lambda push: clone(push).set_params(choice="signed"),
    ", range of all rows": lambda push: clone(push).set_params(weak_rankers=AS_SCALED),
    ", range of all rows, 10 rounds": lambda push: clone(push).set_params(
        weak_rankers=AS_SCALED, n_estimators=10
    ),
    ", 10 rounds": lambda push: clone(push).set_params(n_estimators=10),
    ", chosen by d": by_figure_2(Reading(chosen_by=one)),
    ", 1000 rounds": lambda push: clone(push).set_params(n_estimators=10 * push.n_estimators),
    ", steps of .01": by_figure_2(CONSTANT),
    ", a search that stops where it starts": by_figure_2(STOPPED),
}
"""Other readings of the protocol: each differs from the kept one in what its name says alone, the last two in
the range of all rows and the signed choice, too."""


def readings(quick: bool) -> Models:
    """Return the P-Norm Push by other readings of the protocol."""
    pushes = [(name, push) for name, (push, _) in rankers(quick).items() if name in PUSHES]
    return {name + way: (change(push), {}) for name, push in pushes for way, change in WAYS.items()}


def average_precision(ranker: Any, X: Any, y: Any) -> float:
    """Return what C and eta0 are chosen by."""
    return metrics.average_precision(y, ranker.decision_function(X))


def fitted(models: Models, X: Any, y: Any, seed: int) -> Iterator[tuple[str, Any]]:
    """Yield every ranker, with what is chosen chosen, fitted on a training part."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    for name, (model, grid) in models.items():
        if grid:
            search = GridSearchCV(model, grid, scoring=average_precision, cv=folds).fit(X, y)
            yield name, search.best_estimator_
        else:
            yield name, clone(model).fit(X, y)
        if name in PRINTED_ALGORITHMS:
            yield (
                name + SAME_C,
                clone(models[name + EXACT][0]).set_params(C=search.best_params_["C"]).fit(X, y),
            )


def parts(y: Any, share: float, seed: int) -> tuple[Any, Any]:
    """Return the rows of a random trial to train and to test on, with the classes' shares kept."""
    train, test = train_test_split(np.arange(len(y)), train_size=share, stratify=y, random_state=seed)
    return train, test


def one_trial(table: str, target: str, seed: int, models: Models) -> list[dict[str, Any]]:
    """Return the measures of all rankers on a test part, and what was chosen."""
    X, y = TABLES[table].data(target)
    train, test = parts(y, TABLES[table].share, seed)
    rows = []
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore", ConvergenceWarning)  # to end after so many steps is what is printed
        start = time.process_time()
        for name, ranker in fitted(models, X[train], y[train], seed):
            scores = ranker.decision_function(X[test])
            row = {"table": table, "target": target, "trial": seed, "method": name}
            row |= {measure: of(y[test], scores) for measure, of in MEASURES.items()}
            row |= {"C": getattr(ranker, "C", np.nan), "eta0": getattr(ranker, "eta0", np.nan)}
            row |= {"objective": getattr(ranker, "primal_objective_", np.nan)}
            row |= {"gap": getattr(ranker, "dual_gap_", np.nan)}
            rows.append({**row, "seconds": time.process_time() - start})
            start = time.process_time()
    return rows
