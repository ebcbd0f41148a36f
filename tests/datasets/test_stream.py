"""Rows that come day by day: their chances, their rhythm, and the day on which they drift."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from pushrank.datasets import make_stream


def test_rows_follow_time_and_labels_their_chances():
    stream = make_stream(200, random_state=0)
    assert (np.diff(stream.time).astype(int) >= 0).all()
    assert (
        stream.time.astype("datetime64[D]")
        == np.datetime64("2026-01-05") + stream.day.astype("timedelta64[D]")
    ).all()
    assert stream.target.sum() == pytest.approx(stream.chance.sum(), rel=0.05)
    sizes = np.bincount(stream.day)
    assert sizes[np.arange(200) % 7 >= 5].mean() == pytest.approx(150.0, rel=0.1)
    same = make_stream(200, random_state=0)
    assert (same.data == stream.data).all()
    assert (same.target == stream.target).all()


def test_a_drift_takes_what_the_first_feature_tells_or_moves_the_second():
    stream = make_stream(100, drift_day=50, random_state=0)
    of_part = [
        LogisticRegression().fit(stream.data[part], stream.target[part]).coef_[0, 0]
        for part in (stream.day < 50, stream.day >= 50)
    ]
    assert of_part[0] > 1.0
    assert abs(of_part[1]) < 0.2
    stream = make_stream(100, drift_day=50, drift="rows", random_state=0)
    means = [stream.data[part].mean(axis=0) for part in (stream.day < 50, stream.day >= 50)]
    np.testing.assert_allclose(means[1] - means[0], [0, 1, 0, 0, 0, 0], atol=0.06)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"n_days": 0}, "n_days"), ({"n_features": 2}, "n_features"), ({"drift": "up"}, "drift must be"),
     ({"weekly": 1.0}, "weekly"), ({"storms": -1.0}, "storms"), ({"positive_fraction": 0.0}, "positive")],
)  # fmt: skip
def test_what_is_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        make_stream(**{"n_days": 5} | wrong)
