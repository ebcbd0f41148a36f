"""A ranking objective of a linear model with an L2 penalty, as a function of the coefficients."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from pushrank._log_space import Floats
from pushrank.models import ArrayLinearModel, LinearModel
from pushrank.objectives import ByClass, Linearisation
from pushrank.pairs import BipartiteSample, Sample
from pushrank.solvers import one_pass


class ScoreObjective(Protocol):
    """A function of the scores of a sample's rows."""

    @property
    def powers(self) -> tuple[float, float] | None:
        """The powers of its two-sum form, where it has one."""

    def linearise(self, sample: Sample, scores: Floats) -> Linearisation:
        """Return it at given scores."""


class Problem:
    r"""Minimise :math:`F(X w) + \frac{\alpha}{2} \|w\|^2` over the coefficients w.

    Parameters
    ----------
    objective : ScoreObjective
        The F, a function of the scores.
    model : LinearModel or ArrayLinearModel
        The data.
    sample : Sample
        Which rows are compared, and the sample weights.
    alpha : float
        The L2 strength, at least zero.
    """

    def __init__(
        self, objective: ScoreObjective, model: LinearModel | ArrayLinearModel, sample: Sample, alpha: float
    ) -> None:
        self.objective = objective
        self.model = model
        self.sample = sample
        self.alpha = alpha
        self.class_codes = sample.class_codes
        self._powers = objective.powers if isinstance(sample, BipartiteSample) else None
        self._log_weights = None
        if self._powers is not None and sample.row_weights is not None:
            with np.errstate(divide="ignore"):
                self._log_weights = np.log(sample.row_weights)
        self._point: tuple[Floats, Linearisation] | None = None

    @property
    def host_model(self) -> LinearModel:
        """The model, for what reads single rows and columns.

        Raises
        ------
        TypeError
            When the data are on another device.
        """
        if not isinstance(self.model, LinearModel):
            raise TypeError("this method takes NumPy arrays and sparse matrices only; convert X.")
        return self.model

    def value(self, coef: Floats) -> float:
        """Return the penalised objective alone, which serves one with kinks too."""
        at_point = self.objective.linearise(self.sample, self.model.scores(coef))
        return at_point.value + 0.5 * self.alpha * float(coef @ coef)

    def value_and_gradient(self, coef: Floats) -> tuple[float, Floats]:
        """Return the penalised objective and its gradient, shape (n_features,)."""
        if self._powers is not None:
            value, gradient = one_pass.value_and_gradient(
                self.host_model, self.class_codes, self._log_weights, self._powers, coef
            )
        else:
            at_point = self._linearise(coef)
            value = at_point.value
            gradient = self.model.pull_back(self.sample.join(*at_point.gradient()))
        return value + 0.5 * self.alpha * float(coef @ coef), gradient + self.alpha * coef

    def hessian_product(self, coef: Floats, direction: Floats) -> Floats:
        """Return the Hessian at ``coef`` times a direction."""
        moved = ByClass(*self.sample.split(self.model.scores(direction)))
        product = self._linearise(coef).hessian_product(moved)
        return self.model.pull_back(self.sample.join(*product)) + self.alpha * direction

    def row_weights(self, coef: Floats) -> Floats:
        """Return the non-negative weights of the rows by which the objective curves at ``coef``."""
        scores = self.model.scores(coef)
        at_point = self.objective.linearise(self.sample, scores)
        del scores
        return self.sample.join(*at_point.diagonal())

    def margin(self, coef: Floats) -> float:
        """Return the smallest difference of scores over the pairs that count."""
        return self.sample.least_margin(self.model.scores(coef))

    def _linearise(self, coef: Floats) -> Linearisation:
        if self._point is None or not np.array_equal(self._point[0], coef):
            self._point = (coef.copy(), self.objective.linearise(self.sample, self.model.scores(coef)))
        return self._point[1]
