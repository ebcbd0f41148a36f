"""Rows that hypothesis draws for several files of tests."""

from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

LISTS = st.integers(2, 12).flatmap(
    lambda n: st.tuples(
        hnp.arrays(bool, n).filter(lambda y: 0 < y.sum() < len(y)),
        hnp.arrays(float, n, elements=st.integers(-3, 3).map(float)),
        hnp.arrays(float, n, elements=st.integers(1, 3).map(float)),
    )
)
"""Labels of both classes, scores that tie, and whole weights."""
