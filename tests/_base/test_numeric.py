"""Small functions of numbers and arrays that every floor calls."""

import numpy as np
import pytest

from pushrank._base.numeric import sigmoid, softmax_and_log_sum, softplus
from pushrank._base.parallel import map_chunks, row_chunks, side_by_side

pytestmark = pytest.mark.fast


def test_functions_of_large_numbers_neither_overflow_nor_vanish():
    ends = np.array([-1000.0, 0.0, 1000.0])
    np.testing.assert_allclose(softplus(ends), [0.0, np.log(2.0), 1000.0])
    np.testing.assert_array_equal(sigmoid(ends), [0.0, 0.5, 1.0])
    softmax, log_sum = softmax_and_log_sum(np.array([1000.0, 1000.0]))
    np.testing.assert_array_equal(softmax, [0.5, 0.5])
    assert log_sum == pytest.approx(1000.0 + np.log(2.0))


def test_work_is_cut_into_at_most_64_chunks_whose_results_come_in_order():
    assert row_chunks(10, 5) == [(0, 10)]
    chunks = row_chunks(1_000_000, 50)
    assert len(chunks) == 64
    assert map_chunks(lambda start, stop: (start, stop), chunks) == chunks
    assert [stop for _, stop in chunks[:-1]] == [start for start, _ in chunks[1:]]
    assert list(side_by_side(lambda: 1, lambda: 2, many=False)) == [1, 2]
