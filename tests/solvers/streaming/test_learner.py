"""The sample of batches that a learner keeps costs time linear in the rows."""

import numpy as np

from pushrank.solvers.streaming.learner import BatchSample, LabelledRows


def test_small_batches_are_sampled_in_linear_time():
    """The work is counted: an offered batch is taken in at most once, and sorted out by a heap."""
    taken = []

    class Counted(LabelledRows):
        def take(self, numbers):
            taken.append(len(numbers))
            return super().take(numbers)

    X = np.zeros((30_000, 1))
    rows = Counted(X, np.zeros(30_000, dtype=bool), np.ones(30_000))
    sample = BatchSample(2)
    sample.offer(rows, np.arange(30_000))
    assert len(taken) <= 5001
    assert sample.rows.n_rows == 10_000
    one_by_one = BatchSample(2)
    for start in range(0, 30_000, 2):
        one_by_one.offer(rows, np.arange(start, start + 2))
    assert [key for key, _ in sorted(one_by_one.batches, key=lambda batch: batch[0])] == [
        key for key, _ in sorted(sample.batches, key=lambda batch: batch[0])
    ]
