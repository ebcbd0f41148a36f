"""The threshold between two classes of scores."""

import numpy as np
import pytest


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_threshold_parts_neighbouring_floats(dtype):
    """Half of all neighbours have a midpoint that rounds to the upper one."""
    from pushrank.estimators._target import sample_threshold
    from pushrank.pairs import BipartiteSample
    from pushrank.rows.order_statistics import midway

    sample = BipartiteSample.from_labels([0, 1])
    low = dtype(1.0)
    for _ in range(10):
        high = np.nextafter(low, dtype(2))
        scores = np.array([low, high])
        threshold = dtype(sample_threshold(scores, sample))
        assert (scores - threshold > 0).tolist() == [False, True]
        assert (scores > dtype(midway(float(low), float(high), scores))).tolist() == [False, True]
        low = high
