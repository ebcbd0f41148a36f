"""Inner sums of the exponential loss, which factorise."""

from __future__ import annotations

from pushrank._array import Floats, namespace, positive_part
from pushrank.pairs.samples import Sample


class FactorisedSums:
    r"""Log inner sums of the exponential loss, :math:`l_k = \ln \sum_i \pi_{ik} w_i e^{-s_i} + t_k`.

    Parameters
    ----------
    sample : Sample
        Which rows are compared; it sums over the positives of each negative in time linear in the rows.
    of_positives : ndarray of shape (I,)
        The scores ``s``.
    of_negatives : ndarray of shape (K,)
        The scores ``t``.

    Notes
    -----
    Any finite scores are safe: no exponential is formed but of differences to the largest.

    Examples
    --------
    >>> import numpy as np
    >>> from pushrank.pairs import BipartiteSample
    >>> sample = BipartiteSample.from_labels([1, 1, 0])
    >>> FactorisedSums(sample, np.array([0.0, 0.0]), np.array([1.0])).log_sums.round(4).tolist()
    [1.6931]
    """

    def __init__(self, sample: Sample, of_positives: Floats, of_negatives: Floats) -> None:
        weights = sample.positive_weights
        self._normaliser = sample.normaliser(
            -of_positives if weights is None else namespace(weights).log(weights) - of_positives
        )
        self.log_sums: Floats = of_negatives + self._normaliser.log_totals

    def jacobian_product(self, of_positives: Floats, of_negatives: Floats) -> Floats:
        """Return the change of the log sums in the given direction of the scores."""
        change: Floats = of_negatives - self._normaliser.product(of_positives)
        return change

    def adjoint_product(self, shares: Floats) -> tuple[Floats, Floats]:
        """Return the gradient of ``shares @ log_sums``."""
        return -self._normaliser.transpose_product(shares), shares

    def curvature_product(
        self, shares: Floats, of_positives: Floats, of_negatives: Floats
    ) -> tuple[Floats, Floats]:
        """Return the Hessian of ``shares @ log_sums`` times a direction; it is linear in ``t``."""
        means = self._normaliser.product(of_positives)
        in_positives = of_positives * self._normaliser.transpose_product(
            shares
        ) - self._normaliser.transpose_product(shares * means)
        return in_positives, 0.0 * of_negatives

    def diagonal(self, shares: Floats, curvature: Floats) -> tuple[Floats, Floats]:
        """Return the weights of the rows in the Hessian."""
        return self._normaliser.transpose_product(shares), positive_part(curvature)
