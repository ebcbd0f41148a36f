"""Functions of rows as weak rankers."""

import numpy as np
import pytest

from pushrank.weak_rankers import Functions

pytestmark = pytest.mark.fast


def test_functions_are_checked():
    X = np.arange(6.0).reshape(3, 2)
    learner = Functions([lambda X: X[:, 0], lambda X: X[:, 1] > 2]).fit(X)
    assert learner.values(X, 0).tolist() == [0.0, 0.5, 1.0]
    assert learner.scores(X, np.array([0, 1]), np.array([2.0, 1.0])).tolist() == [0.0, 2.0, 3.0]
    for functions, message in (
        ([], "at least one function"),
        ([lambda X: X], "one number a row"),
        ([lambda X: np.log(X[:, 0] * 0 - 1)], "finite"),
    ):
        with np.errstate(invalid="ignore"), pytest.raises(ValueError, match=message):
            Functions(functions).fit(X)
    with pytest.raises(TypeError, match="callables"):
        Functions([3]).fit(X)
