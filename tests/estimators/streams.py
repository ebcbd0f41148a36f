"""Learning from batches: one pass over rows in their order, and fits that must be the same."""

import numpy as np

ONE_PASS = {"max_iter": 1, "shuffle": False}


def same(one, other):
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.mistakes_path_, other.mistakes_path_)
    assert one.threshold_ == other.threshold_
    assert one.n_batches_ == other.n_batches_
