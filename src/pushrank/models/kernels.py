"""Positive definite kernels, by name or as a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from pushrank._log_space import Floats

KernelFunction = Callable[[Any, Any], Any]


class Kernel(NamedTuple):
    r"""A kernel with its parameters.

    ``"rbf"`` is :math:`e^{-\gamma \|x - z\|^2}`, ``"poly"`` :math:`(\gamma x \cdot z + c)^d`, and a function
    takes two sets of rows to the matrix of its values.

    Attributes
    ----------
    kind : {"rbf", "poly", "precomputed"} or callable
        Which.
    gamma, coef0 : float
        Their :math:`\gamma` and c.
    degree : int
        The d.
    """

    kind: str | KernelFunction
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0

    def between(self, some: Any, others: Any) -> Floats:
        """Return the kernel of all rows of one set with all of another, shape (n_some, n_others).

        Raises
        ------
        ValueError
            When a kernel function returns another shape, or values that are not finite.
        """
        if self.kind == "rbf":
            values = rbf_kernel(some, others, gamma=self.gamma)
        elif self.kind == "poly":
            values = polynomial_kernel(some, others, degree=self.degree, gamma=self.gamma, coef0=self.coef0)
        elif callable(self.kind):
            values = self.kind(some, others)
            values = values.toarray() if sp.issparse(values) else np.asarray(values)
        else:
            raise ValueError("a precomputed kernel holds its values already.")
        shape = (some.shape[0], others.shape[0])
        if values.shape != shape:
            raise ValueError(f"kernel must return an array of shape {shape}, got {values.shape}.")
        if not np.isfinite(values).all():
            raise ValueError("kernel values must be finite and are not; scale the features or change gamma.")
        return np.asarray(values, dtype=np.float64)
