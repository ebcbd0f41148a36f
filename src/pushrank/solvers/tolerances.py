"""The numerical constants of the gradient, Newton and smoothing solvers, each with its reason."""

from __future__ import annotations

import numpy as np

MACHINE_ROUNDING = np.finfo(float).eps
TINY = np.finfo(float).tiny  # keeps a divisor that underflowed from being zero
VALUE_ROUNDING = 1e-12
"""Relative: a descent of the objective below this cannot be told from none, its sums being over many rows."""

# line searches
ZERO_SLOPE = 1e-12
"""A slope that fell to this part of the first, or a bracket of this relative length, is at the minimum."""
MAX_TRIALS = 100  # bisection alone narrows a bracket to rounding within it
SUFFICIENT_DESCENT = 1e-4  # the customary part of the descent that the slope promises
MAX_HALVINGS = 20  # a direction that has to be cut to a millionth was not one of descent

# gradient methods
FIRST_RESTART = 30  # iterations; the weights of the rows settle early, and a new preconditioner then pays
LATER_RESTARTS = 20  # the weights have settled by then, and a preconditioner made near the minimum needs few
LATER_RESTARTS_WIDE = 100  # where the preconditioner is diagonal, the method has to learn all directions
MAX_ROWS_A_COLUMN = 4  # up to which a descent starts whitened whatever that takes, and soon goes to the dual
MAX_STALLED_RESTARTS = 3  # without descent, each with a preconditioner of its own: what is left is rounding
CHEAP_WORK = 1 << 26  # below this n_rows * n_features ** 2 whitening takes milliseconds, as does going on to
REFINED = 1e-5  # this part of the tolerance, or as far as the objective shows descent
MAX_STALLED_TRIALS = 5  # of a line search within the tolerance, after which it sees nothing but rounding
MIN_LOG_OBJECTIVE = -700.0
"""The logarithm of nearly the smallest float: only separable data without a penalty get there."""
TIGHTER = 0.1  # the part of a gradient that did not suffice for a proof, to be reached before the next one

# preconditioners
MAX_WHITENED_FEATURES = 1024  # a matrix of that size is factored in hundredths of a second
MAX_EIGEN_FEATURES = 128  # whose axes, of use where columns differ by many decades, are found in milliseconds
RIDGE = 1e-11
"""Added curvature, relative to what there is along a column: copies of one leave none along a direction."""
MEAN_ROUNDING = 1e-15  # relative, of a mean, for every row that adds to it

# Newton's method on dense Hessians
REUSE_FACTOR = 0.2
"""A Cholesky factor that cuts the gradient to this part is used again: a fifth of the cost of a new one."""
REUSE_RESAMPLED = 0.5  # in its place where the sample changes, which is what most of the gradient comes from
NEWTON_STEPS = 25  # after which a start was not near the minimum, and L-BFGS goes on from there
NEXT_PENALTY = 0.5  # in terms of the last on the way to the minimum on separable rows, if that is small
PENALTY_TOL = 0.1  # on that way, where a minimum is only to be near the next one
PATH_REFINED = 1e-2  # of the tolerance that Newton's steps aim at: the last of them all but comes for free

# Newton's method in the dual
NEXT_ALPHA = 0.1  # in terms of the last on the way: weights then change by so little that one step follows
MAX_DUAL_STEPS = 60  # which are thrice those of hard problems
MAX_DUAL_PRODUCTS = 2000  # in one step; a hundred, but where alpha is very small
LIGHT_CURVATURE = 0.1  # of all rows left out of a system, where each that is in it has one and more
MAX_HEAVY_PART = 0.25  # of the rows, to be worth a copy, and for its memory
SUDDEN_WEIGHT = 0.1  # in terms of the mean: up to this a weight may rise at once, from however little
MIN_WEIGHT = 1e-250  # has a logarithm, and is nothing to any sum
MAX_EXPONENT = 500.0  # takes a weight to the largest from next to nothing

# Newton's method by conjugate gradients
FORCING = 0.1  # of the gradient's norm: how exactly a system is solved at first, with more digits later
MAX_KERNEL_PRODUCTS = 1000  # in one Newton step
EXACT = 1e-12  # of the gradient's norm: the last steps of a certified fit are to win all digits there are
MAX_HESSIAN_PRODUCTS = 200  # in one of these
SMALL_GRADIENT = 1e-3  # of a mean risk, in units of the columns: where the gap is first worth its computing

# smoothing
FIRST_WIDTH = 0.25  # of the rounded kinks, and the first temperature in units of the objective
NARROWER = 0.1  # the next width in terms of the last: each stage starts near its end
MIN_WIDTH = 1e-10  # rounding of the sums hides what a narrower kink would change
FIRST_STEEPNESS = 0.1  # the gradient, in widths, at which a stage is first asked whether it is done
MAX_PROOFS = 5  # gradients, each a tenth of the one before, at which it is asked

# trimming
TRIMMING_STEP = 0.75  # of the positives kept: jumps end in worse minima, shorter steps in no better ones
TRIMMING_TOL = 1e-3  # on the way, where only the order of the positives is asked for
MAX_TRIMMING_TURNS = 4  # on the way, as further turns hardly change what the next step keeps
TRIMMING_LBFGS_STEPS = 30  # of a turn on the way on wide data, in place of one of Newton's
MAX_SOLVER_ITERATIONS = 1000  # of a turn, which starts near its end

# Cutting planes.

# The next plane touches the risk beyond the best point, by this part of the way to the planes' minimiser.
STEP_BEYOND = 0.1
# A new plane is worth more than a finer search, relative to the way from the best point to the minimiser.
MIN_BRACKET = 1e-2
# The small quadratic program is solved to this part of the gap to reach.
BOUND_TOLERANCE = 0.01
# Added to the matrix of the planes' products relative to the largest of them, since planes may be equal.
PLANES_RIDGE = 1e-13
# Squared normals below this part of the largest offset would underflow, and curve nothing.
MIN_UNIT = 1e-100
# A handful of changes of the active set follow a plane.
MAX_ACTIVE_SET_CHANGES = 200
# With so few features the small program in coefficients and planes costs next to nothing.
MAX_FEATURES_EXACT = 100

# The concave-convex procedure for the ramp.

# A convex problem that needs more planes than these has a C so large that the norm hardly counts.
MAX_PLANES = 1000
# The k highest rows are likely to stay among this multiple of k while the scores change.
REACH = 2.0
# A larger part of the rows is not worth a copy.
MAX_PART_COPIED = 0.5
# The problem of some rows is solved to this part of the tolerance, which leaves room for the other rows.
PART_TOLERANCE = 0.5
