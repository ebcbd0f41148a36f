"""The exponential loss of RankBoost and the P-Norm Push."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pushrank._log_space import Floats
from pushrank.losses.base import Loss


@dataclass(frozen=True)
class Exponential(Loss):
    r"""The exponential loss :math:`\ell(r) = e^{-r}`.

    It factorises over the pair, :math:`e^{-(s_i - t_k)} = e^{-s_i} e^{t_k}`, so that every objective built
    on it costs time linear in the number of rows.

    References
    ----------
    Rudin, *The P-Norm Push*, JMLR 10 (2009), section 3.

    Examples
    --------
    >>> Exponential().value(np.array([0.0, np.log(2.0)])).tolist()
    [1.0, 0.5]
    """

    factorises: ClassVar[bool] = True

    def value(self, margin: Floats) -> Floats:
        """Return ``exp(-margin)``."""
        return np.exp(-margin)

    def derivative(self, margin: Floats) -> Floats:
        """Return ``-exp(-margin)``."""
        return -np.exp(-margin)

    def second_derivative(self, margin: Floats) -> Floats:
        """Return ``exp(-margin)``."""
        return np.exp(-margin)
