"""The inner sums h_k of losses over the positives, as a function of the scores that can be differentiated."""

from __future__ import annotations

from typing import Protocol

from pushrank._log_space import Floats


class InnerSums(Protocol):
    r"""Log inner sums :math:`l_k = \ln \sum_i w_i \ell(s_i - t_k)` at given scores, with their derivatives.

    ``s`` are the scores of the positives, shape (I,), and ``t`` those of the negatives, shape (K,). An
    objective is a function of ``l``; these four operations give it gradients and Hessian products in the
    scores, whatever way the pairs were summed.
    """

    @property
    def log_sums(self) -> Floats:
        """The ``l_k``, shape (K,)."""

    def jacobian_product(self, of_positives: Floats, of_negatives: Floats) -> Floats:
        """Return the change of ``l`` when the scores move in the given direction, shape (K,)."""

    def adjoint_product(self, shares: Floats) -> tuple[Floats, Floats]:
        """Return the gradient of ``shares @ l`` in ``s`` and in ``t``."""

    def curvature_product(
        self, shares: Floats, of_positives: Floats, of_negatives: Floats
    ) -> tuple[Floats, Floats]:
        """Return the Hessian of ``shares @ l`` times the given direction, in ``s`` and in ``t``."""

    def diagonal(self, shares: Floats, curvature: Floats) -> tuple[Floats, Floats]:
        """Return non-negative weights on which, row by row, the Hessian of an objective rests.

        ``shares`` and ``curvature`` are the price's first and second derivatives in ``l``. The weights
        serve to scale coordinates, not as exact second derivatives.
        """
