"""Which variant of PerceptronAtK and which surrogate of SGDAtK rank better, and what does the ramp add?

    PUSHRANK_DATA=folder python benchmarks/at_k_variants.py variants > benchmarks/at_k_variants.txt
    PUSHRANK_DATA=folder python benchmarks/at_k_variants.py families > benchmarks/at_k_families.txt

``variants``: precision among the first .25 m rows, m the positives, and average precision, on the 40 % held
out of random stratified splits. All parameters are the defaults but for the variant; 1PMB's radius is 10.

``families``: that precision of the member that TopRankerCV takes from each family, on 8,000 rows, and of its
choice without the ramp and with it; CPU seconds of the paths of a family on the training rows.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import replace

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from pushrank import PerceptronAtK, SGDAtK, TopRankerCV, datasets, metrics
from pushrank.estimators._search import choose
from pushrank.estimators.top_ranker_cv import FAMILIES, FoldRows
from pushrank.models import LinearModel

SPLITS = 3
FAMILY_SETS = ("letter H", "MAGIC", "ijcnn1", "spambase", "adult")
MODELS = {
    "LogisticRegression": LogisticRegression(max_iter=1000),
    **{f"Perceptron@k-{name}": PerceptronAtK(variant=name, random_state=0) for name in ("avg", "max")},
    **{f"SGD@k-{name}": SGDAtK(surrogate=name, random_state=0) for name in ("avg", "max", "ramp")},
    "SGD@k-struct": SGDAtK(surrogate="struct", radius=10.0, random_state=0),
}
SETS = {
    "letter H": ("letter", {"positive": "H"}),
    "letter A": ("letter", {"positive": "A"}),
    "MAGIC": ("magic", {}),
    "ijcnn1": ("ijcnn1", {}),
    "spambase": ("spambase", {}),
    "adult": ("adult_a9a", {}),
    "cover": ("cover_odds", {}),
    "MAGIC swapped": ("magic", {}),
    "ionosphere": ("ionosphere", {}),
}


def rows(title: str, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return at most so many rows of a set, the classes in proportion."""
    name, options = SETS[title]
    X, y = datasets.load_dataset(name, **options, return_X_y=True)
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    y = 1 - y if title.endswith("swapped") else y
    if len(y) > most:
        X, _, y, _ = train_test_split(X, y, train_size=most, stratify=y, random_state=0)
    return X, y


def variants() -> None:
    """Print precision at .25 of the positives and average precision of all variants."""
    print(f"{'':14s}" + "".join(f"{name:>20s}" for name in MODELS))
    for title in list(SETS)[:-1]:  # too few rows of the last
        X, y = rows(title, 20_000)
        found = np.empty((SPLITS, len(MODELS), 2))
        for split in range(SPLITS):
            parts = train_test_split(X, y, test_size=0.4, stratify=y, random_state=split)
            scaler = StandardScaler().fit(parts[0])
            for m, model in enumerate(MODELS.values()):
                scores = model.fit(scaler.transform(parts[0]), parts[2]).decision_function(
                    scaler.transform(parts[1])
                )
                found[split, m, 0] = metrics.precision_at_k(parts[3], scores, fraction_of_positives=0.25)
                found[split, m, 1] = metrics.average_precision(parts[3], scores)
        means, errors = found.mean(axis=0), found.std(axis=0, ddof=1) / SPLITS**0.5
        cells = (
            f"{mean[0]:.3f} ± {error[0]:.3f}; {mean[1]:.3f}"
            for mean, error in zip(means, errors, strict=True)
        )
        print(f"{title:14s}" + "".join(f"{cell:>22s}" for cell in cells), flush=True)


def families() -> None:
    """Print the held-out precision of every family, and of the choice with the ramp and without."""
    names = list(FAMILIES)
    print(f"{'':14s}" + "".join(f"{name:>22s}" for name in [*names, "chosen, no ramp", "chosen, with it"]))
    for title in FAMILY_SETS:
        X, y = rows(title, 8_000)
        found, seconds = np.empty((SPLITS, len(names) + 2)), np.zeros(len(names))
        for split in range(SPLITS):
            train, test, labels, test_labels = train_test_split(
                X, y, test_size=0.4, stratify=y, random_state=split
            )
            scaler = StandardScaler().fit(train)
            train, test = scaler.transform(train), scaler.transform(test)
            ranker = TopRankerCV(candidates=names, random_state=split).fit(train, labels)
            data = FoldRows(train, LinearModel(train), labels == 1, np.ones(len(labels)), split)
            for f, member in enumerate(ranker.candidates_):
                began = time.process_time()
                FAMILIES[member["candidate"]].solve(data, FAMILIES[member["candidate"]].grid(0.25))
                seconds[f] += time.process_time() - began
                grid = {key: [value] for key, value in member["params"].items() if key != "candidate"}
                final = replace(data, is_final=True)
                (one,) = FAMILIES[member["candidate"]].solve(final, grid)
                found[split, f] = metrics.precision_at_k(
                    test_labels, test @ one.coef, fraction_of_positives=0.25
                )
            results = ranker.cv_results_
            params = list(results["params"])
            precisions = np.array([results[f"split{fold}_test_score"] for fold in range(ranker.n_splits_)]).T
            for place, allowed in enumerate((names[:-1], names), len(names)):
                best = [row for row in ranker.candidates_ if row["candidate"] in allowed]
                members = [params.index(row["params"]) for row in best]
                overall = results["mean_average_precision"][members]
                complexity = [FAMILIES[row["candidate"]].complexity for row in best]
                chosen = choose(precisions[members], overall, complexity, "one_standard_error")
                found[split, place] = found[split, names.index(best[chosen]["candidate"])]
        means, errors = found.mean(axis=0), found.std(axis=0, ddof=1) / SPLITS**0.5
        cells = (f"{mean:.3f} ± {error:.3f}" for mean, error in zip(means, errors, strict=True))
        print(f"{title:14s}" + "".join(f"{cell:>22s}" for cell in cells))
        print(f"{'CPU seconds':14s}" + "".join(f"{one / SPLITS:22.2f}" for one in seconds), flush=True)


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["variants", "families"])
    what = parser.parse_args().what
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        {"variants": variants, "families": families}[what]()


if __name__ == "__main__":
    main()
