r"""Cutting planes, and the concave-convex procedure around them.

A regularised convex risk of the scores by cutting planes, for losses with kinks.

Minimise :math:`P(w) = \tfrac12 \|w\|^2 + C R(Xw)`, where R falls at most linearly. Every subgradient gives
a plane below R; the highest of the planes found so far is minimised by a small quadratic program, whose value
bounds P from below. The next plane is taken near the best point known, found by a line search, and not where
the planes alone would lead.

Thorsten Joachims, *Training linear SVMs in linear time*, KDD 2006; Vojtěch Franc, Soeren Sonnenburg,
*Optimized cutting plane algorithm for support vector machines*, ICML 2008, for the line search.

The ramp surrogate of precision at k by the concave-convex procedure.

Alan Yuille, Anand Rangarajan, *The concave-convex procedure*, Neural Computation 15 (2003).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pushrank._numeric import Floats
from pushrank.models import LinearModel, Model
from pushrank.objectives.precision_at_k import RAMP, held_at_top, slopes, slopes_against
from pushrank.solvers.result import Callback, Certificate


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


Risk = Callable[[Floats], tuple[float, Floats]]
"""A convex function of the scores of all rows, with a subgradient."""

AHEAD = 0.1  # how far from the best point towards the planes' own minimiser the next plane is taken
NARROW = 1e-2  # of the way to the planes' minimiser, and the line search ends
RIDGE = 1e-13  # of the longest plane's squared slope: planes may be alike
FLATTEST = 1e-100  # slopes squared, in offsets, that still bend the bound
TINY = np.finfo(float).tiny
MOST_CHANGES = 200  # of the planes that have a share, after a plane; a handful are needed


class Planes(NamedTuple):
    """Planes below a risk, whatever its weight: what a run leaves to one with another weight.

    Attributes
    ----------
    normals : ndarray of shape (n_planes, n_features)
        Their slopes; the first plane is zero where the risk is never negative.
    offsets : ndarray of shape (n_planes,)
        Their values at zero coefficients.
    gram : ndarray of shape (n_planes, n_planes)
        The inner products of the slopes.
    shares : ndarray of shape (n_planes,)
        The dual variables, which add up to the weight of the risk.
    coef : ndarray of shape (n_features,)
        The best coefficients that were found.
    """

    normals: Floats
    offsets: Floats
    gram: Floats
    shares: Floats
    coef: Floats

    def tilted(self, slope: Floats) -> Planes:
        """Return the planes below the risk plus a linear function, where neither risk is ever negative."""
        normals = self.normals + slope
        normals[0] = 0.0
        return self._replace(normals=normals, gram=normals @ normals.T)


class CutResult(NamedTuple):
    """The end of a run: coefficients, the bounds on the optimum, the number of planes, and the planes."""

    coef: Floats
    certificate: Certificate
    n_iter: int
    planes: Planes


def cutting_plane(
    risk: Risk,
    model: Model,
    C: float,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    start: Planes | None = None,
    *,
    non_negative: bool = True,
) -> CutResult:
    """Minimise until the relative gap of the bounds is at most ``tol``.

    Parameters
    ----------
    risk : callable
        The R.
    model : Model
        The data.
    C : float
        The weight of the risk.
    tol : float
        The relative gap to reach.
    max_iter : int
        The most planes.
    callback : callable, optional
        Called after every plane with its number, the objective and the gap.
    start : Planes, optional
        Planes of a run with another weight.
    non_negative : bool, default=True
        Whether the risk is known never to be negative, which makes the plane zero one to begin with.

    Notes
    -----
    A plane costs two readings of the data and about ten evaluations of the risk; with kernels, three
    products with the kernel matrix.
    """
    if start is None:
        nothing, known = model.rmatvec(np.zeros(model.n_rows)), int(non_negative)
        start = Planes(np.zeros((known, len(nothing))), np.zeros(known), np.zeros((known, known)),
                       np.ones(known), nothing)  # fmt: skip
    normals, offsets, gram, shares, coef = start
    if len(shares):
        shares = C / shares.sum() * shares
    best = _point(risk, model, C, coef)
    cut_at = best
    for iteration in range(1, max_iter + 1):
        normal = model.rmatvec(cut_at.slope)
        normals = np.vstack([normals, normal])
        products = model.products(normals, normal)
        gram = np.block([[gram, products[:-1, None]], [products]])
        offsets = np.append(offsets, cut_at.risk - float(cut_at.slope @ cut_at.scores))
        shares = np.append(shares, 0.0 if len(shares) else C)
        _share_out(gram, offsets, shares, 0.01 * tol * abs(best.objective) / C)
        dual = float(shares @ offsets - 0.5 * shares @ gram @ shares)
        trial = -(shares @ normals)
        best, cut_at = _search(risk, model, C, best, _point(risk, model, C, trial))
        certificate = Certificate(best.objective, dual)
        if callback is not None:
            callback(iteration, objective=best.objective, gap=certificate.gap)
        if certificate.gap <= tol:
            break
        kept = shares > 0.0
        kept[0] |= non_negative
        normals, offsets, shares = normals[kept], offsets[kept], shares[kept]
        gram = gram[np.ix_(kept, kept)]
    # afresh, without the rounding that has piled up on the way
    certificate = Certificate(_point(risk, model, C, best.coef).objective, dual)
    return CutResult(best.coef, certificate, iteration, Planes(normals, offsets, gram, shares, best.coef))


class _Point(NamedTuple):
    """Coefficients with their scores, squared norm, risk and objective."""

    coef: Floats
    scores: Floats
    norm: float
    risk: float
    slope: Floats
    objective: float


def _point(risk: Risk, model: Model, C: float, coef: Floats) -> _Point:
    scores = model.scores(coef)
    value, slope = risk(scores)
    norm = model.squared_norm(coef, scores)
    return _Point(coef, scores, norm, value, slope, 0.5 * norm + C * value)


def _search(risk: Risk, model: Model, C: float, best: _Point, trial: _Point) -> tuple[_Point, _Point]:
    """Return the best point on the way from the best known to the trial, and one a little further on.

    Along the way the squared norm is a quadratic, known from the ends.
    """
    inner = float(model.products(best.coef, trial.coef, trial.scores))

    def rise(share: float, slope: Floats) -> float:
        bent = share * trial.norm - (1.0 - share) * best.norm + (1.0 - 2.0 * share) * inner
        return bent + C * float(slope @ (trial.scores - best.scores))

    def at(share: float) -> _Point:
        kept = 1.0 - share
        scores = kept * best.scores + share * trial.scores
        value, slope = risk(scores)
        norm = kept**2 * best.norm + 2.0 * kept * share * inner + share**2 * trial.norm
        coef = kept * best.coef + share * trial.coef
        return _Point(coef, scores, norm, value, slope, 0.5 * norm + C * value)

    least, where = (best, 0.0) if best.objective <= trial.objective else (trial, 1.0)
    falling, rising = rise(0.0, best.slope), rise(1.0, trial.slope)
    low, high = 0.0, 1.0
    while rising > 0.0 > falling and high - low > NARROW:
        # halfway between where the slopes point and the middle: neither end stays put for long
        share = 0.5 * (low - falling * (high - low) / (rising - falling)) + 0.25 * (low + high)
        point = at(share)
        slope = rise(share, point.slope)
        if point.objective < least.objective:
            least, where = point, share
        if slope < 0.0:
            low, falling = share, slope
        else:
            high, rising = share, slope
        if slope == 0.0:
            break
    return least, at(where + AHEAD * (1.0 - where))


def _share_out(gram: Floats, offsets: Floats, shares: Floats, tol: float) -> None:
    """Set the shares, whose sum stays, to those that raise the bound most, by the active set method.

    The bound is highest over the planes that have a share, as if the signs were free; a plane whose share
    would turn negative leaves, and one that would raise it by more than ``tol`` for a unit share joins.
    """
    longest, highest = float(np.diag(gram).max()), float(np.abs(offsets).max())
    unit = max(longest, FLATTEST * highest) or 1.0
    total, used, joined = float(shares.sum()), shares > 0.0, -1
    slopes = gram @ shares - offsets
    for _ in range(MOST_CHANGES):
        of_used = np.flatnonzero(used)
        now = shares[of_used]
        change = _without_signs(gram[np.ix_(of_used, of_used)] / unit, slopes[of_used] / unit)
        falling = now + change <= 0.0
        if falling.any():
            # a plane that has just joined, and is like another, has no share and no way to go
            ways = np.where(now[falling] > 0.0, now[falling] / -np.minimum(change[falling], -TINY), 0.0)
            way = float(ways.min())
            shares[of_used] = np.maximum(now + way * change, 0.0)
            left = of_used[falling][ways <= way]
            shares[left], used[left] = 0.0, False
            if way == 0.0 and joined in left:
                break  # as far as floats reach
            slopes = gram @ shares - offsets
            continue
        shares[of_used] += change
        slopes = gram @ shares - offsets
        gains = np.where(used, -np.inf, slopes[of_used].max() - slopes)
        joined = int(np.argmax(gains))
        if gains[joined] <= tol:
            break
        used[joined] = True
    shares *= total / shares.sum()


def _without_signs(gram: Floats, slopes: Floats) -> Floats:
    """Return the change of shares, of any sign and nothing in all, that raises the bound most."""
    n_planes = len(slopes)
    system = np.ones((n_planes + 1, n_planes + 1))
    system[:-1, :-1] = gram + RIDGE * np.eye(n_planes)
    system[-1, -1] = 0.0
    change: Floats = np.linalg.solve(system, np.append(-slopes, 0.0))[:-1]
    return change


MOST_PLANES = 1000
"""Of a convex problem; one that needs more has so large a C, or features, that the norm hardly counts."""


class Ramp(NamedTuple):
    """The loss of scores: classes, masses and k as a number of rows."""

    positive: NDArray[np.bool_]
    mass: Floats
    k: float

    def value(self, scores: Floats) -> float:
        """Return the ramp over k."""
        value, _ = slopes(RAMP, scores, self.positive, self.mass, self.k, np.empty(len(scores)))
        return float(value) / self.k

    def held(self, scores: Floats) -> Floats:
        """Return the positives among whom the k highest are, as masses of rows."""
        held: Floats = held_at_top(scores, self.positive, self.mass, self.k)
        return held

    def above(self, held: Floats, scores: Floats) -> tuple[float, Floats]:
        """Return a convex function that is never below the ramp over k, and meets it where they are held."""
        slope = np.empty(len(scores))
        value = slopes_against(held, scores, self.positive, self.mass, self.k, slope)
        return float(value) / self.k, slope / self.k


class Descent(NamedTuple):
    """What a descent found.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
        The coefficients.
    path : list of float
        The objective at zero coefficients, and after each convex problem.
    converged : bool
        Whether it came to rest.
    """

    coef: Floats
    path: list[float]
    converged: bool


def concave_convex(
    ramp: Ramp,
    model: LinearModel,
    C: float,
    tol: float,
    max_iter: int,
    scores: Floats,
    callback: Callback | None = None,
) -> Descent:
    r"""Descend on :math:`\tfrac12 \|w\|^2 + C\,\mathrm{ramp}(Xw) / k` by one convex problem after another.

    Parameters
    ----------
    ramp : Ramp
        The loss.
    model : LinearModel
        The data.
    C : float
        The weight of the loss.
    tol : float
        Ends when the objective falls by less than this share of itself; also the gap of convex problems.
    max_iter : int
        The most convex problems.
    scores : ndarray of shape (n_rows,)
        Those to start from.
    callback : callable, optional
        Called after every convex problem with its number, the objective and its fall.
    """
    coef, path = np.zeros(model.n_features), [C * ramp.value(np.zeros(len(scores)))]
    held, planes = ramp.held(scores), None
    for iteration in range(1, max_iter + 1):
        found = cutting_plane(partial(ramp.above, held), model, C, tol, MOST_PLANES, start=planes)
        candidate = model.scores(found.coef)
        objective = 0.5 * model.squared_norm(found.coef, candidate) + C * ramp.value(candidate)
        solved = found.n_iter < MOST_PLANES or found.certificate.gap <= tol
        if objective >= path[-1]:
            return Descent(coef, path, solved)
        falls = path[-1] - objective
        if callback is not None:
            callback(iteration, objective=objective, fall=falls)
        coef, before, held = found.coef, held, ramp.held(candidate)
        planes = found.planes.tilted(model.rmatvec((before - held) / ramp.k))
        path.append(objective)
        if not solved:
            return Descent(coef, path, False)
        if falls <= tol * objective and iteration > 1:
            return Descent(coef, path, True)
    return Descent(coef, path, False)
