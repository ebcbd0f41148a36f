"""``pushrank demo``: the comparison on real data that scikit-learn bundles, offline."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from pushrank.cli.compare import print_comparison, progress
from pushrank.cli.model import make_ranking_pipelines
from pushrank.model_selection import compare_rankers, default_rankers

DIGIT = 8
MAX_EIGHTS = 45
BUDGET = 30


def demo() -> None:
    """Find a rare handwritten digit: compare models with no data of your own.

    The digit 8 among 1,667 handwritten digits, made rare by keeping every fourth one. You can look at 30
    images: how many of them are eights?
    """
    X, y = rare_digit()
    models = make_ranking_pipelines(default_rankers(), list(X.columns), [], sparse=False)
    with progress(10, len(models)) as advance:
        comparison = compare_rankers(
            models, X, y, budget=BUDGET, n_repeats=2, random_state=0, callback=advance
        )
    print_comparison(
        comparison,
        f"Which of {len(y):,} handwritten digits are eights? ({int(y.sum())} are; "
        "5-fold cross-validation, twice)",
    )


def rare_digit() -> tuple[pd.DataFrame, NDArray[np.bool_]]:
    """Return the pixels of all other digits and of every fourth eight, and which rows are eights."""
    digits = load_digits()
    is_digit = digits.target == DIGIT
    kept = ~is_digit
    kept[np.flatnonzero(is_digit)[::4][:MAX_EIGHTS]] = True
    return pd.DataFrame(digits.data[kept], columns=digits.feature_names), is_digit[kept]
