"""The problems of the papers as quadratic and conic programs by clarabel: independent of the package."""

import clarabel
import numpy as np
import scipy.sparse as sp


def minimise(P, q, A, upper, cones=None, tol=1e-10):
    """Minimise x'Px/2 + q'x where upper - Ax lies in the cones (or Ax <= upper); return value and x."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
    cones = cones or [clarabel.NonnegativeConeT(len(upper))]
    P = sp.csc_matrix(sp.triu(sp.coo_matrix(P)))
    solution = clarabel.DefaultSolver(P, np.asarray(q), sp.csc_matrix(A), upper, cones, settings).solve()
    if "Solved" not in str(solution.status):
        raise RuntimeError(f"the oracle found no optimum: {solution.status}")
    return solution.obj_val, np.array(solution.x)


def pairwise_svm(differences, costs, loss):
    """Minimise |w|^2/2 + sum of costs * loss(differences @ w): hinge or squared hinge; return value and w."""
    m, d = differences.shape
    squared = loss == "squared_hinge"
    P = sp.block_diag([sp.eye(d), sp.diags(2 * costs if squared else np.zeros(m))])
    q = np.r_[np.zeros(d), np.zeros(m) if squared else costs]
    A = sp.bmat([[-differences, -sp.eye(m)], [None, -sp.eye(m)]])
    value, x = minimise(P, q, A, np.r_[-np.ones(m), np.zeros(m)])
    return value, x[:d]


def largest_of_planes(slopes, offsets, C):
    """Minimise |w|^2/2 + C max_j(offsets_j + slopes_j @ w)."""
    d = slopes.shape[1]
    P = sp.block_diag([sp.eye(d), np.zeros((1, 1))])
    A = np.column_stack([slopes, -np.ones(len(slopes))])
    return minimise(P, np.r_[np.zeros(d), C], A, -offsets)[0]


def infinite_push(X, y, C, loss):
    """Agarwal's primal: |w|^2/2 + C times the largest over negatives of the mean loss over positives."""
    positives, negatives = X[y == 1], X[y == 0]
    m, n, d = len(positives), len(negatives), X.shape[1]
    differences = (positives[None] - negatives[:, None]).reshape(-1, d)
    # The variables are w, the shortfalls of the pairs, negative by negative, and the largest mean loss.
    P = sp.block_diag([sp.eye(d), sp.csc_matrix((m * n + 1, m * n + 1))])
    q = np.r_[np.zeros(d + m * n), C]
    short = sp.bmat([[-differences, -sp.eye(m * n), None], [None, -sp.eye(m * n), sp.csc_matrix((m * n, 1))]])
    upper = np.r_[-np.ones(m * n), np.zeros(m * n)]
    cones = [clarabel.NonnegativeConeT(2 * m * n)]
    if loss == "hinge":
        means = sp.kron(sp.eye(n), np.full((1, m), 1 / m))
        largest = sp.bmat([[sp.csc_matrix((n, d)), means, -np.ones((n, 1))]])
        limits, cones = np.zeros(n), [clarabel.NonnegativeConeT(2 * m * n + n)]
    else:
        # |shortfalls|^2 <= m t is the cone |(2 shortfalls, m t - 1)| <= m t + 1.
        of_pairs = sp.kron(sp.eye(n), np.vstack([np.zeros((2, m)), -2 * np.eye(m)]))
        of_largest = np.tile(np.r_[-m, -m, np.zeros(m)], n)[:, None]
        largest = sp.bmat([[sp.csc_matrix((n * (m + 2), d)), of_pairs, of_largest]])
        limits = np.tile(np.r_[1, -1, np.zeros(m)], n)
        cones += [clarabel.SecondOrderConeT(m + 2)] * n
    value, x = minimise(P, q, sp.vstack([short, largest]), np.r_[upper, limits], cones)
    return value, x[:d]


def infinite_push_dual(X, y, C):
    """Agarwal's dual (3.9) over all pairs: each negative's variables share one budget with the others'."""
    positives, negatives = X[y == 1], X[y == 0]
    m, n = len(positives), len(negatives)
    differences = (positives[:, None] - negatives[None]).reshape(m * n, -1)
    P = sp.block_diag([differences @ differences.T, sp.csc_matrix((n, n))])
    A, upper = budget(m, n, C / m)
    return -minimise(P, np.r_[-np.ones(m * n), np.zeros(n)], A, upper)[0]


def budget(m, n, total):
    """Limits on (a, u): 0 <= a_ij <= u_j and sum of u <= total."""
    pairs = sp.eye(m * n)
    above = sp.kron(np.ones((m, 1)), sp.eye(n))
    A = sp.bmat([[-pairs, None], [pairs, -above], [None, np.ones((1, n))]])
    return A, np.r_[np.zeros(2 * m * n), total]


class PushProgram:
    """A push objective and penalty in cones; an expression is the variables' factors and a constant."""

    def __init__(self, X, y, weights, size=2000):
        self.n, self.size = X.shape[1], size
        self.one = self.constant(1.0)
        self.rows, self.cones = [], []
        scores = np.zeros((len(y), size + 1))
        scores[:, : self.n] = X
        self.positives, self.negatives = scores[y == 1], scores[y == 0]
        self.positive_weights, self.negative_weights = weights[y == 1], weights[y == 0]
        self.n_features = self.n

    def constant(self, value):
        expression = np.zeros(self.size + 1)
        expression[-1] = value
        return expression

    def variable(self):
        expression = np.zeros(self.size + 1)
        expression[self.n] = 1.0
        self.n += 1
        return expression

    def require(self, cone, *expressions):
        self.rows.extend(expressions)
        self.cones.append(cone)

    def at_least(self, expression, bound):
        self.require(clarabel.NonnegativeConeT(1), expression - bound)

    def exponential(self, exponent, unit=None):
        """Return a variable at least unit * exp(exponent / unit)."""
        above = self.variable()
        self.require(clarabel.ExponentialConeT(), exponent, self.one if unit is None else unit, above)
        return above

    def log_sum(self, exponents, weights=None):
        """Return a variable at least ln sum w exp(exponent)."""
        weights = np.ones(len(exponents)) if weights is None else weights
        total = self.variable()
        parts = [w * self.exponential(e - total) for e, w in zip(exponents, weights, strict=True) if w > 0]
        self.at_least(self.one, np.sum(parts, axis=0))
        return total

    def power_mean(self, terms, weights, p):
        """Return a variable at least (sum w term^p / sum w)^(1/p)."""
        norm = self.variable()
        parts = []
        for term, w in zip(terms, weights, strict=True):
            part = self.variable()
            self.require(clarabel.PowerConeT(1.0 / p), part, norm, term)
            parts.append(w / weights.sum() * part)
        self.at_least(norm, np.sum(parts, axis=0))
        return norm

    def mean_above(self, terms, weights):
        """Return a variable at least the least z + sum w (term - z)_+ : the mean of the largest terms."""
        level = self.variable()
        parts = [w * self.at_least_zero(term - level) for term, w in zip(terms, weights, strict=True)]
        return level + np.sum(parts, axis=0)

    def at_least_zero(self, expression):
        """Return a variable at least an expression and zero."""
        above = self.variable()
        self.at_least(above, expression)
        self.at_least(above, 0.0 * expression)
        return above

    def loss(self, name, margin):
        """Return a variable at least the loss of a margin."""
        if name == "exponential":
            return self.exponential(-margin)
        if name == "logistic":
            return self.log_sum([0.0 * margin, -margin])
        if name == "smoothed_hinge":
            return 0.25 * self.log_sum([0.0 * margin, 4.0 * (self.one - margin)])
        short = self.variable()
        self.at_least(short, self.one - margin)
        self.at_least(short, 0.0 * margin)
        if name == "hinge":
            return short
        square = self.variable()
        self.require(clarabel.PowerConeT(0.5), square, self.one, short)
        return square

    def mean_losses(self, name):
        """Return for every negative the mean loss of its pairs."""
        weights = self.positive_weights / self.positive_weights.sum()
        pairs = [[self.loss(name, s - t) for s in self.positives] for t in self.negatives]
        return [np.tensordot(weights, losses, 1) for losses in pairs]

    def minimise(self, objective, alpha, *, positive=False):
        """Return the least objective plus penalty, and its w, of at least zero if ``positive``."""
        for j in range(self.n_features if positive else 0):
            self.at_least(np.eye(self.size + 1)[j], 0.0)
        rows = np.array(self.rows)
        P = np.diag(np.r_[np.full(self.n_features, alpha), np.zeros(self.n - self.n_features)])
        value, x = minimise(P, objective[: self.n], -rows[:, : self.n], rows[:, -1], self.cones)
        return value + objective[-1], x[: self.n_features]


def above_threshold(X, y, weights, C, total, of, beta, loss):
    """The mean loss of positives against a threshold at a weight of ``total``, and |w|^2/2; value and w."""
    squared = loss == "squared_hinge"
    positives = X[y == 1]
    counted = np.ones(len(y), bool) if of == "all" else y == 0
    rows, row_weights = X[counted], weights[counted]
    shares = weights[y == 1] / weights[y == 1].sum()
    m, n, d = len(positives), len(rows), X.shape[1]
    # The variables are w, the threshold, another level, the positives' shortfalls and the rows' heights.
    P = sp.block_diag([sp.eye(d), np.zeros((2, 2)), np.diag(2 * C * shares * squared), np.zeros((n, n))])
    q = np.r_[np.zeros(d + 2), np.zeros(m) if squared else C * shares, np.zeros(n)]
    one, none = np.ones((m, 1)), np.zeros((m, 1))
    short = sp.bmat([[-positives, one, none, -sp.eye(m), np.zeros((m, n))]])
    level = np.repeat([[0.0, -1.0] if beta is None else [-beta, 0.0]], n, axis=0)
    high = sp.bmat([[(beta or 1.0) * rows, level, np.zeros((n, m)), -sp.eye(n)]])
    signs = sp.hstack([sp.csc_matrix((m + n, d + 2)), -sp.eye(m + n)])
    A, upper = [short, high, signs], [-np.ones(m), np.full(n, 0.0 if beta is None else -1.0), np.zeros(m + n)]
    cones = [clarabel.NonnegativeConeT(2 * (m + n) + (not (squared and beta)))]
    first = np.zeros((1, d + 2 + m))
    if beta is None:
        first[0, d : d + 2] = -1.0, 1.0
        A, upper = [*A, np.c_[first, row_weights[None] / total]], [*upper, [0.0]]
    elif not squared:
        A, upper = [*A, np.c_[first, row_weights[None]]], [*upper, [total]]
    else:
        norm = sp.hstack([sp.csc_matrix((n, d + 2 + m)), -sp.diags(np.sqrt(row_weights))])
        A, upper = [*A, np.c_[first, np.zeros((1, n))], norm], [*upper, [np.sqrt(total)], np.zeros(n)]
        cones.append(clarabel.SecondOrderConeT(n + 1))
    value, x = minimise(P, q, sp.vstack(A), np.concatenate(upper), cones)
    return value, x[:d]
