"""What solvers that work with functions of any kind ask of a model."""

from __future__ import annotations

from typing import Protocol

from pushrank._log_space import Floats


class Model(Protocol):
    """Functions of the training rows, with an inner product; coefficients stand for functions."""

    n_rows: int

    def scores(self, coef: Floats) -> Floats:
        """Return the scores of all rows, shape (n_rows,), but for a constant."""

    def pull_back(self, factors: Floats) -> Floats:
        """Return the function whose products with others are ``factors @ scores``; factors sum to zero."""

    def squared_norm(self, coef: Floats, scores: Floats | None = None) -> float:
        """Return the squared norm of a function, whose scores may be known."""

    def products(self, others: Floats, coef: Floats, scores: Floats | None = None) -> Floats:
        """Return the inner products of other functions with one, whose scores may be known."""
