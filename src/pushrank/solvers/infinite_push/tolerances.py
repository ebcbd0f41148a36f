"""The numerical constants of the solvers of the Infinite Push, each with its reason."""

# Projections.

# About ten trials are needed; bisection alone ends within a hundred.
MAX_PROJECTION_TRIALS = 200
# Relative width of a bracket at which floats allow no narrower one.
BRACKET_ROUNDING = 1e-15
# Relative excess over the budget that the sum of many column heights leaves by rounding.
BUDGET_ROUNDING = 1e-14

# The choice of a solver.

# A matrix with at most this number of columns is cheap to factor.
MAX_FEATURES_DENSE = 1000
# Up to here the interior point method is a fallback that takes seconds.
MAX_FEATURES_FACTORED = 3000
# Newton's method on proximal points converges in about 100 iterations or hardly at all.
MAX_NEWTON_ITERATIONS = 300
# A dense matrix of this size takes 32 MB; smaller sparse data are solved faster as dense ones.
MAX_DENSE_ENTRIES = 1 << 22

# Working sets of the interior point method, whose sizes are multiples of the number of features, since that
# many rows can be at the margin.

FREE_POSITIVES, MIN_FREE_POSITIVES = 16, 64
FIRST_NEGATIVES, MORE_NEGATIVES, MIN_NEGATIVES = 16, 8, 64
# No variable of an interior point is exactly zero: below this part of the largest it counts as zero.
NEGLIGIBLE_BETA = 1e-9

# Precision of the restricted problems, relative to the objective.

# The rows outside add to the gap of a restricted problem, which therefore has to be well below the tolerance.
RESTRICTED_TOLERANCE = 0.1
# The part of the tolerated gap that positives fixed at the wrong bound may cost.
SHRINKING_TOLERANCE = 0.1
# Early restricted problems lack rows, so that more digits would be wasted on them.
FIRST_GAP = 1e-1
# Later problems are solved to this part of the gap of the whole problem before.
LATER_GAP = 0.03
# With fewer operations, (I + J) d^2, an iteration takes milliseconds and all digits are worth having.
CHEAP_WORK = 1 << 20
# Rounding of the sums leaves a gap of about this size.
CHEAP_GAP = 1e-14
# Iterations that may fail to halve the gap before rounding is taken to hide any progress.
MAX_STALLED_ITERATIONS = 3

# Steps of the interior point method.

# A step ends short of the boundary, from which no further step could be taken.
BOUNDARY_FRACTION = 0.995
# A step without correction aims at this part of the mean complementarity product.
PLAIN_CENTRING = 0.1
# Added to a matrix of unit diagonal, so that its Cholesky factor exists in spite of rounding.
RIDGE = 1e-15

# Newton's method on proximal points.

# A few of Newton's steps cost as much as these projected gradients, which solve many a problem alone.
N_PROJECTED_GRADIENTS = 64
# On counts of words they hardly move the gap; where they lead to the optimum, less than half is left by then.
N_TRIED_GRADIENTS, HOPELESS_GAP = 16, 0.5
# Backtracking doubles the estimate of the Lipschitz constant, and every step lets it shrink.
LIPSCHITZ_GROWTH, LIPSCHITZ_DECAY = 2.0, 0.9
# Where the bound of the curvature is attained its two sides are equal up to rounding.
CURVATURE_ROUNDING = 1e-12
# Growth of the weight of the dual objective against the distance, from one proximal point to the next.
SIGMA_GROWTH = 1.35
# By then that weight has grown by 1e12, and rounding hides any further progress.
MAX_PROXIMAL_POINTS = 92
# Points that may fail to halve the gap before the columns are taken to be in very different units.
MAX_STALLED_POINTS = 25
# After fewer such points the weight grows faster, so that it is large before they end.
STALLED_POINTS, STALLED_GROWTH = 10, 2.0
# The first steps from a centre move nearly all of the gap, and the last ones take most of the products with
# rows. They pay only where the coefficients are good enough and the dual variables still have to make them.
PROXIMAL_TOLERANCE, EXACT_PROXIMAL_TOLERANCE = 4.0, 1e-3
# A handful of Newton steps lead to a proximal point.
MAX_NEWTON_STEPS = 50
# A Newton system far from the optimum is not worth a more exact solution, relative to the gradient.
CG_TOLERANCE = 0.1
# Conjugate gradients give a direction of descent wherever they stop.
MAX_CG_PRODUCTS = 200
# A line search stops where the slope has shrunk to this part of the first one.
SLOPE_REDUCTION = 0.5

# Sequential minimal optimisation.

# Computing the gap costs about as much as a step, so it is done once in this number of steps.
GAP_STEPS = 32
# The gap computed from updated scores has to be this much smaller, since rounding may add to it.
UPDATED_GAP = 0.999
# The curvature between two equal rows is zero, and would make an infinite step.
MIN_CURVATURE = 1e-12
# A rate is the difference of a score from one, which is rounded in the last of 16 digits.
RATE_ROUNDING = 1e-15
# A variable so close to a bound, relative to the step or the bound, is at the bound.
BOUND_ROUNDING = 1e-14
# Kernel columns are made in blocks: together they cost little more than a few alone.
BLOCK = 32
# The least number of columns that is kept, even if less memory is granted.
MIN_COLUMNS = 2 * BLOCK
# Restarts compute the scores afresh, when rounding in their updates keeps the gap from closing.
MAX_RESTARTS = 20
