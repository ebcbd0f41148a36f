"""Rows of data with their classes and masses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pushrank._log_space import Floats


class Rows(NamedTuple):
    """Checked rows: features, dense by rows or CSR, the class and the mass of each."""

    X: Any
    positive: NDArray[np.bool_]
    mass: Floats

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return len(self.positive)

    @property
    def nbytes(self) -> int:
        """The memory of the features."""
        parts = (self.X.data, self.X.indices, self.X.indptr) if sp.issparse(self.X) else (self.X,)
        return sum(int(part.nbytes) for part in parts)

    def taken(self, numbers: NDArray[np.intp]) -> Rows:
        """Return a copy of some rows."""
        return Rows(self.X[numbers], self.positive[numbers], self.mass[numbers])


def one_after_another(parts: Sequence[Rows]) -> Rows:
    """Return the rows of all parts; CSR where any of them is."""
    if any(sp.issparse(part.X) for part in parts):
        X = sp.vstack([sp.csr_array(part.X) for part in parts], format="csr")
    else:
        X = np.vstack([part.X for part in parts])
    positive, mass = (np.concatenate(column) for column in list(zip(*parts, strict=True))[1:])
    return Rows(X, positive, mass)
