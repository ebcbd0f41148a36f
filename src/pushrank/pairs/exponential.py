r"""Inner sums of the exponential loss, which factorise: :math:`e^{-(s_i - t_k)} = e^{-s_i} e^{t_k}`."""

import numpy as np
from scipy.special import logsumexp

from pushrank._base.user_types import Floats
from pushrank.pairs.samples import Sample, SharedNormaliser


class FactorisedSums:
    r"""Log inner sums of the exponential loss, :math:`l_k = \ln \sum_i \pi_{ik} w_i e^{-s_i} + t_k`."""

    # They take O(n). Any finite scores are safe: only differences to the largest score enter an exponential.

    def __init__(self, sample: Sample, positive_scores: Floats, negative_scores: Floats) -> None:
        log_weights, _ = sample.log_weights
        exponents = -positive_scores if log_weights is None else log_weights - positive_scores
        self._normaliser = sample.normaliser(exponents)
        self.log_sums: Floats = negative_scores + self._normaliser.log_totals

    def jacobian_product(self, positive_direction: Floats, negative_direction: Floats) -> Floats:
        return negative_direction - self._normaliser.product(positive_direction)

    def adjoint_product(self, multipliers: Floats) -> tuple[Floats, Floats]:
        return -self._normaliser.transpose_product(multipliers), multipliers

    def curvature_product(
        self, multipliers: Floats, positive_direction: Floats, negative_direction: Floats
    ) -> tuple[Floats, Floats]:
        # The sums are linear in the negatives' scores, so that only the positives have a Hessian: that of a
        # log-sum-exp, a covariance under the softmax.
        means = self._normaliser.product(positive_direction)
        spread = self._normaliser.transpose_product(multipliers)
        in_positives = positive_direction * spread - self._normaliser.transpose_product(multipliers * means)
        return in_positives, 0.0 * negative_direction

    def diagonal(self, multipliers: Floats, curvature: Floats) -> tuple[Floats, Floats]:
        return self._normaliser.transpose_product(multipliers), np.maximum(curvature, 0.0)

    def majoriser(self, multipliers: Floats, curvature: Floats, coupling: float) -> tuple[Floats, Floats]:
        """Return a diagonal above the Hessian of an objective."""
        # With price derivatives g and c and the softmax means u_k = sum_i m_ki v_i, v'Hv is at most
        # sum_k c_k (v_k - u_k)^2 + g_k (sum_i m_ki v_i^2 - u_k^2), and so, by
        # (v_k - u_k)^2 <= 2 v_k^2 + 2 u_k^2 and u_k^2 <= sum_i m_ki v_i^2, at most
        # sum_k 2 (c_k)_+ v_k^2 + max(g_k, 2 (c_k)_+) sum_i m_ki v_i^2. On the log scale of a power all
        # negatives of two classes share one u, which the variance p Var_g(v_k - u) does not see: the classes
        # do not mix, and the diagonal is (a_i, p b_k) with the two softmaxes a and b.
        is_shared = isinstance(self._normaliser, SharedNormaliser)
        if is_shared and np.array_equal(curvature, coupling * multipliers):
            return self.diagonal(multipliers, curvature)
        doubled = 2.0 * np.maximum(curvature, 0.0)
        return self._normaliser.transpose_product(np.maximum(multipliers, doubled)), doubled


def adaboost_threshold(sample: Sample, scores: Floats) -> float:
    r"""Return :math:`\frac12 (\ln F_- - \ln F_+)`, above which AdaBoost calls rows positive."""
    positive_scores, negative_scores = sample.gather(scores)
    log_positive = logsumexp(-positive_scores, b=sample.positive_weights)
    return 0.5 * float(logsumexp(negative_scores, b=sample.negative_weights) - log_positive)
