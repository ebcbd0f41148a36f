"""Features that rankers refuse or pass over, whatever the ranker."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from pushrank import PerceptronAtK, PNormPush, RampAtK, RankBoost, RankSVM
from samples import overlapping

pytestmark = pytest.mark.fast


X, Y = overlapping()


@pytest.mark.parametrize("ranker", [PNormPush(), RankBoost(), PerceptronAtK(), RankSVM(), RampAtK()], ids=str)
def test_text_in_the_features_is_named(ranker):
    words = np.column_stack([np.arange(4).astype(str), ["a", "b", "c", "d"]])
    for table, where in (
        (words, "column 1 holds text such as 'a'"),
        (words.astype(object), "column 1 holds text such as 'a'"),
        (pd.DataFrame(words, columns=["u", "v"]), r"column 1 \('v'\) holds text such as 'a'"),
    ):
        if isinstance(table, pd.DataFrame) and isinstance(ranker, RankBoost):
            continue  # whose stumps take text
        with pytest.raises(ValueError, match=rf"X must hold numbers, and {where}: encode it"):
            ranker.fit(table, [0, 1, 0, 1])
    ranker = clone(ranker).fit(X, Y)
    with pytest.raises(ValueError, match="column 0 holds text such as 'a'"):
        ranker.predict([["a", "1", "2", "3"]])


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix])
@pytest.mark.parametrize("value", [0.1, -714.3, 1e9 + 0.3, 1e-10 / 3])
@pytest.mark.parametrize("ranker", [PNormPush(alpha=1e-3), RankSVM(C=100.0)], ids=["push", "svm"])
def test_a_constant_sparse_column_is_ignored(ranker, value, kind):
    """Its step from class to class is all rounding, which is no unit to measure by."""
    X, y = overlapping(300, 5, seed=8)
    with_constant = np.column_stack([X, np.full(len(y), value)])
    fitted = clone(ranker).fit(kind(with_constant), y)
    coef = clone(ranker).fit(X, y).coef_
    np.testing.assert_allclose(fitted.coef_[:-1], coef, rtol=1e-6)
    assert abs(fitted.coef_[-1]) < 1e-7
