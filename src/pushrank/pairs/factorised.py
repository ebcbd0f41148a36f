"""The exponential loss: every inner sum is one sum over the positives times a factor of its own."""

from __future__ import annotations

import numpy as np

from pushrank._log_space import Floats, softmax_and_log_sum


class FactorisedSums:
    r"""Log inner sums of the exponential loss, :math:`l_k = \ln \sum_i w_i e^{-s_i} + t_k`, in O(I + K).

    Parameters
    ----------
    of_positives : ndarray of shape (I,)
        The scores ``s``.
    of_negatives : ndarray of shape (K,)
        The scores ``t``.
    weights : ndarray of shape (I,) or None
        Weights of the positives.

    Notes
    -----
    Any finite scores are safe: no exponential is formed but of differences to the largest.

    Examples
    --------
    >>> FactorisedSums(np.array([0.0, 0.0]), np.array([1.0]), None).log_sums.round(4).tolist()
    [1.6931]
    """

    def __init__(self, of_positives: Floats, of_negatives: Floats, weights: Floats | None) -> None:
        exponents = -of_positives if weights is None else np.log(weights) - of_positives
        self._mass, log_total = softmax_and_log_sum(exponents)
        self.log_sums = of_negatives + log_total

    def jacobian_product(self, of_positives: Floats, of_negatives: Floats) -> Floats:
        """Return the change of the log sums in the given direction of the scores."""
        change: Floats = of_negatives - self._mass @ of_positives
        return change

    def adjoint_product(self, shares: Floats) -> tuple[Floats, Floats]:
        """Return the gradient of ``shares @ log_sums``."""
        return -shares.sum() * self._mass, shares

    def curvature_product(
        self, shares: Floats, of_positives: Floats, of_negatives: Floats
    ) -> tuple[Floats, Floats]:
        """Return the Hessian of ``shares @ log_sums`` times a direction; it is linear in ``t``."""
        centred = of_positives - self._mass @ of_positives
        return shares.sum() * self._mass * centred, np.zeros_like(of_negatives)

    def diagonal(self, shares: Floats, curvature: Floats) -> tuple[Floats, Floats]:
        """Return the weights of the rows in the Hessian."""
        return shares.sum() * self._mass, np.maximum(curvature, 0.0)
